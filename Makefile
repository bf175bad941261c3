# Everything that is done with this module. `make` alone lists the targets.

GO   ?= go
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help build run test check lint bench fmt

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-6s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## build ./herdscope
	$(GO) build -o herdscope .

run: build ## build and open the dashboard; ARGS="gateway-down --virtual" is passed on
	./herdscope $(ARGS)

test: ## unit, property and golden tests and short live smokes; 5 minutes at most
	$(GO) test -timeout 5m ./...

check: ## race detector, live against sim, end to end in tmux, soak; 40 minutes at most
	$(GO) test -race -timeout 20m ./...
	$(GO) test -tags check -p 1 -timeout 30m ./...

lint: ## gofmt, vet and the pinned staticcheck
	@files="$$(gofmt -l .)"; test -z "$$files" || { echo "not gofmt-ed:"; echo "$$files"; exit 1; }
	$(GO) vet -tags check ./...
	$(GO) tool staticcheck -tags check ./...

bench: ## benchmarks, with allocations
	$(GO) test -run '^$$' -bench . -benchmem ./...

fmt: ## gofmt all files
	gofmt -w .
