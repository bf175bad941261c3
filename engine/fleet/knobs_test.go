package fleet_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/fleet"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// sound is a fleet with which nothing is wrong.
func sound() fleet.Config {
	c := fleet.Config{
		Clients: 10,
		Arrival: fleet.Arrival{Rate: 1000},
		Policy: engine.Policy{
			Retry: engine.Retry{
				Attempts: 3,
				Backoff:  backoff.Config{Base: time.Second, Cap: time.Minute, Multiplier: 2000},
			},
			Breaker: breaker.Config{OpenFor: time.Second, Probes: 1, Successes: 1},
		},
	}
	c.Mix[wire.Interactive].Weight = 1
	return c
}

// TestApplyKnobCoversBothTables reads each knob back through its own table after
// it was set through the common numbering.
func TestApplyKnobCoversBothTables(t *testing.T) {
	var c fleet.Config
	// From the end, since the preset is a fleet knob and sets many of the policy's.
	for i := len(engine.Fields) + len(fleet.Fields) - 1; i >= 0; i-- {
		fleet.ApplyKnob(&c, uint16(i), 1)
	}
	for _, f := range engine.Fields {
		if got := f.Get(&c.Policy); got != 1 {
			t.Errorf("%s = %d, want 1", f.Name, got)
		}
	}
	for _, f := range fleet.Fields {
		if got := f.Get(&c); got != 1 {
			t.Errorf("%s = %d, want 1", f.Name, got)
		}
	}
}

func TestApplyKnobChangesOneThing(t *testing.T) {
	i, ok := knob.Index(fleet.Fields, "arrival.think")
	if !ok {
		t.Fatal("no arrival.think")
	}
	got, want := sound(), sound()
	fleet.ApplyKnob(&got, uint16(len(engine.Fields)+i), int64(time.Second))
	want.Arrival.Think = time.Second
	if got != want {
		t.Errorf("config = %+v\nwant     %+v", got, want)
	}
}

func TestFieldsAreDescribed(t *testing.T) {
	for _, f := range fleet.Fields {
		if f.Doc == "" || f.Kind == knob.Int && f.Unit == "" {
			t.Errorf("%s: Doc %q, Unit %q", f.Name, f.Doc, f.Unit)
		}
		if _, ok := knob.Index(engine.Fields, f.Name); ok {
			t.Errorf("%s is in both tables", f.Name)
		}
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(*fleet.Config)
		want  string
	}{
		{"sound", func(*fleet.Config) {}, ""},
		{"most clients", func(c *fleet.Config) { c.Clients = fleet.MaxClients }, ""},
		{"no clients", func(c *fleet.Config) { c.Clients = 0 },
			`fleet.clients: "0" is out of range; allowed: 1 to 1000000`},
		{"no rate", func(c *fleet.Config) { c.Arrival.Rate = 0 },
			`arrival.rate: "0/s" is out of range; allowed: 0.001/s to 1000000/s`},
		{"absurd rate", func(c *fleet.Config) { c.Arrival.Rate = 1 << 62 },
			`arrival.rate: "4611686018427387.904/s" is out of range; allowed: 0.001/s to 1000000/s`},
		{"negative think", func(c *fleet.Config) { c.Arrival.Think = -1 },
			`arrival.think: "-1ns" is out of range; allowed: 0s to 1h`},
		{"timeout too short", func(c *fleet.Config) { c.Mix[wire.Critical].Timeout = 1 },
			`mix.critical.timeout: "1ns" is out of range; allowed: 1ms to 24h, or off`},
		{"no weight", func(c *fleet.Config) { c.Mix[wire.Interactive].Weight = 0 },
			`mix.interactive.weight: "0" leaves no class a weight; allowed: 1 to 1000 for at least one class`},
		{"bad policy", func(c *fleet.Config) { c.Policy.Retry.Attempts = 0 },
			`retry.attempts: "0" is out of range; allowed: 1 to 100`},
	}
	for _, tt := range tests {
		c := sound()
		tt.spoil(&c)
		got := ""
		if err := c.Validate(); err != nil {
			got = err.Error()
		}
		if got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}
