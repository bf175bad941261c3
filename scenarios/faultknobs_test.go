package scenarios

import (
	"strings"
	"testing"
	"time"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func TestFaultKnobsAreSetBeforehand(t *testing.T) {
	s, err := Builtin("rate-limit")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Set("fault.quota.length", "3s"); err != nil {
		t.Fatal(err)
	}
	if got := s.Server.Faults[0].Length; got != 3*time.Second {
		t.Errorf("length is %v, want 3 s", got)
	}
	if again, _ := Builtin("rate-limit"); again.Server.Faults[0].Length == 3*time.Second {
		t.Error("setting a fault's knob changes the library")
	}
	v, err := s.Value("fault.quota.length")
	if err != nil || v != int64(3*time.Second) {
		t.Errorf("Value = %d, %v", v, err)
	}
	if _, err := s.After(Action{Kind: SetKnob, Knob: "fault.quota.length", Value: 1e9}); err == nil {
		t.Error("a fault's knob can be changed while a run goes on")
	}
}

// TestFaultIsLeftToTheHandBeforehand: a knob can take its schedule from a fault,
// and what comes of it is a scenario that can be saved.
func TestFaultIsLeftToTheHandBeforehand(t *testing.T) {
	s, _ := Builtin("restart")
	if err := s.Set("fault.restart.manual", "on"); err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	if text, err := s.YAML(); err != nil {
		t.Errorf("cannot be saved: %v", err)
	} else if _, err := Parse("f.yaml", text); err != nil {
		t.Errorf("the saved file: %v", err)
	}
	if err := s.Set("fault.restart.start", "3s"); err != nil {
		t.Fatal(err)
	}
	if s.Validate() == nil {
		t.Error("a fault that is left to the hand may have a schedule again")
	}
}

func TestUnknownFaultKnobs(t *testing.T) {
	quota, _ := Builtin("rate-limit")
	for name, want := range map[string]string{
		"fault.quota.lenght": `did you mean "fault.quota.length"?`,
		"fault.quota.added":  "there is no such knob", // of another kind
		"fault.outage.start": "allowed: those of fault.quota",
		"fault.quota.wall":   "allowed: fault.quota.manual, fault.quota.start, ",
	} {
		err := quota.Set(name, "1s")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
	calm := Default()
	if err := calm.Set("fault.quota.rate", "1"); err == nil || !strings.Contains(err.Error(), "no faults") {
		t.Errorf("error %v, want one that says there are no faults", err)
	}
}

// TestTextFieldsOfFaultsAreSet: what is no knob is set by name all the same.
func TestTextFieldsOfFaultsAreSet(t *testing.T) {
	s := Default()
	f := fault.NewFault(fault.Errors)
	f.Name = "burst"
	s.Server.Faults = []fault.Fault{f, {Name: "cut", Kind: fault.CapacityCut}}
	before := s
	for name, text := range map[string]string{
		"path": "/pay", "header": "X-Tenant: gold", "methods": "GET, POST", "classes": "critical",
		"body": "no", "share": "0.000001",
	} {
		if err := s.Set("fault.burst."+name, text); err != nil {
			t.Error(err)
		}
	}
	got := s.Server.Faults[0]
	want := fault.Match{Path: "/pay", Header: "X-Tenant: gold", Methods: 1<<wire.Get | 1<<wire.Post, Classes: 1}
	if got.Match != want || got.Body != "no" || got.Share != 1 {
		t.Errorf("the fault is %+v", got)
	}
	if before.Server.Faults[0] != f {
		t.Error("a scenario that shares the fault has changed")
	}
	for name, want := range map[string]string{
		"fault.burst.methods": `did you mean "OPTIONS"?`,
		"fault.burst.metods":  `did you mean "fault.burst.methods"?`,
		"fault.cut.path":      "there is no such knob", // of other kinds
	} {
		if err := s.Set(name, "OPTION"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %q", name, err, want)
		}
	}
}
