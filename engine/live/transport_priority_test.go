package live

import (
	"net/http"
	"sync"
	"testing"

	"herdscope/engine/wire"
)

// TestPriorityIsChangedWhileItWaits has one slot, and two requests in line for it:
// the second is made critical, and goes first.
func TestPriorityIsChangedWhileItWaits(t *testing.T) {
	p := patient()
	p.Queue.Limit = 1
	var mu sync.Mutex
	var order []string
	gate := make(chan struct{})
	tr := travel(t, p, WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		order = append(order, r.URL.Path)
		mu.Unlock()
		<-gate
		return response(200, ""), nil
	})))
	urgent := NewPriority(wire.Background)
	var all sync.WaitGroup
	ask := func(path string, p *Priority) {
		before := tr.Counts()
		all.Go(func() {
			if _, _, err := do(tr, request(t, WithPriority(t.Context(), p), "GET", anywhere+path, nil)); err != nil {
				t.Error(err)
			}
		})
		until(t, path+" begins", func() bool {
			now := tr.Counts()
			return now.Queued+now.Running > before.Queued+before.Running
		})
	}
	ask("1", NewPriority(wire.Critical))
	ask("2", NewPriority(wire.Interactive))
	ask("3", urgent)
	urgent.Set(wire.Critical)
	urgent.Set(wire.NumClasses) // no such class
	close(gate)
	all.Wait()
	if len(order) != 3 || order[1] != "/3" || urgent.Class() != wire.Critical {
		t.Errorf("sent in the order %v, want /3 before /2", order)
	}
	if n := tr.count(wire.ClassChanged); n != 1 {
		t.Errorf("%d changes of class, want 1", n)
	}
	if len(urgent.calls) > 0 {
		t.Errorf("%d calls are kept after their end", len(urgent.calls))
	}
	urgent.Set(wire.Background)
	tr.rests(t)
}
