package scenarios

import (
	"slices"
	"testing"

	"herdscope/engine"
)

const twoScopes = head + "classes: {interactive: {scope: api}, background: {scope: exports}}\n"

// TestScopesAreKnownByName: a limit of a scope's own is set by its name in a
// file, a flag and a timeline, wherever in the file the scopes are named.
func TestScopesAreKnownByName(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoScopes+
		"scopes: {exports: {limit: 1}, api: {limit: 0, capacity: unlimited}}\nqueue: {limit: 0}\n"+
		"timeline: [{at: 5s, set: {scopes.exports.limit: 2}}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	q := s.Fleet.Policy.Queue
	api, exports := slices.Index(s.Scopes, "api"), slices.Index(s.Scopes, "exports")
	if q.Limit != engine.Paused || q.Scope[exports] != (engine.ScopeQueue{Limit: 1}) ||
		q.Scope[api] != (engine.ScopeQueue{Limit: engine.Paused, Capacity: engine.Unlimited}) {
		t.Errorf("%v: %+v", s.Scopes, q)
	}
	if got := s.Timeline[0].String(); got != "exports.limit=2" {
		t.Errorf("the action is %s", got)
	}
	if err := s.Set("scopes.exports.limit", "default"); err != nil || s.Fleet.Policy.Queue.Scope[exports].Limit != 0 {
		t.Errorf("default is %d, %v", s.Fleet.Policy.Queue.Scope[exports].Limit, err)
	}
	for name, want := range map[string]string{
		"scopes.exprts.limit": `scopes.exprts.limit: there is no such knob; ` +
			`allowed: scopes.api.limit, scopes.api.capacity, scopes.exports.limit, ` +
			`scopes.exports.capacity; did you mean "scopes.exports.limit"?`,
		"scopes.1.limit": `scopes.1.limit: there is no such knob; ` +
			`allowed: scopes.api.limit, scopes.api.capacity, scopes.exports.limit, ` +
			`scopes.exports.capacity; did you mean "scopes.api.limit"?`,
	} {
		if err := s.Set(name, "1"); err == nil || err.Error() != want {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// TestErrorsOfAScopeNameIt: the engine knows a scope by its number only.
func TestErrorsOfAScopeNameIt(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoScopes))
	if err != nil {
		t.Fatal(err)
	}
	s.Fleet.Policy.Queue.Scope[slices.Index(s.Scopes, "exports")].Limit = -7
	want := `scopes.exports.limit: "-7" is out of range; ` +
		`allowed: 1 to 1000000, 0 to pause, unlimited, or default`
	if err := s.Validate(); err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

func TestPanelHasTheScopes(t *testing.T) {
	s, err := Parse("f.yaml", []byte(twoScopes))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(s.Panel(), "scopes.exports.limit") {
		t.Errorf("the panel is %v", s.Panel())
	}
	if slices.Contains(Default().Panel(), "scopes.default.limit") {
		t.Error("one scope needs no limit beside that of all")
	}
}
