package cli

import (
	"io"
	"os"
	"strings"

	"herdscope/engine/knob"
	"herdscope/scenarios"
)

// firstScenario is what is run when nothing is named.
const firstScenario = "restart"

const listHint = "`herdscope scenarios list` shows the names"

// find is the scenario of a name or a file. A built-in name wins; what has a
// slash or a dot, or exists, is a file; "-" is the standard input.
func (a *app) find(ref string) (scenarios.Scenario, error) {
	if s, err := scenarios.Builtin(ref); err == nil {
		return s, nil
	}
	if ref == "-" {
		return a.read()
	}
	if isFile(ref) {
		return scenarios.Load(ref)
	}
	if near, ok := knob.Nearest(ref, scenarioNames()); ok {
		return scenarios.Scenario{}, usage("no scenario or file %s; did you mean %s?", knob.Quote(ref), near)
	}
	return scenarios.Scenario{}, usage("no scenario or file %s; %s", knob.Quote(ref), listHint)
}

// tooMuch is more bytes than a scenario may have; Parse says so.
const tooMuch = 1<<20 + 1

// read is the scenario on the standard input.
func (a *app) read() (scenarios.Scenario, error) {
	data, err := io.ReadAll(io.LimitReader(a.in, tooMuch))
	if err != nil {
		return scenarios.Scenario{}, usage("read the standard input: %w", err)
	}
	return scenarios.Parse("stdin", data)
}

func isFile(ref string) bool {
	if ref == "-" || strings.ContainsAny(ref, `/\.`) {
		return true
	}
	_, err := os.Lstat(ref)
	return err == nil
}

func scenarioNames() []string {
	var names []string
	for _, s := range scenarios.Library() {
		names = append(names, s.Name)
	}
	return names
}
