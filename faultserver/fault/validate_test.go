package fault

import (
	"errors"
	"strings"
	"testing"
	"time"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

func TestValidateNamesFieldValueAndAllowed(t *testing.T) {
	ok := Fault{Name: "f", Kind: Latency, Share: Always, Length: s}
	with := func(change func(*Fault)) Config {
		f := ok
		change(&f)
		return Config{Faults: []Fault{f}}
	}
	for _, c := range []struct {
		config               Config
		field, value, allows string
	}{
		{Config{Workers: -1}, "server.workers", "-1", "1 to 1000000, or unlimited"},
		{Config{Backlog: MaxWorkers + 1},
			"server.backlog", "1000001", "1 to 1000000, 0 to let nobody wait, or unlimited"},
		{Config{Service: Service{Mean: -s}}, "server.service.mean", "-1s", "1ns to 1h, or none"},
		{Config{Service: Service{Shape: 9}},
			"server.service.shape", "9",
			"one of fixed, exponential, lognormal, pareto, uniform, empirical"},
		{Config{Service: Service{Sigma: 5001}}, "server.service.sigma", "5.001", "0 to 5"},
		{Config{Limit: RateLimit{Rate: -1}},
			"server.limit.rate", "-0.001/s", "0.001/s to 1000000/s, or off"},
		{Config{Limit: RateLimit{Burst: -1}}, "server.limit.burst", "-1", "1 to 1000000"},
		{Config{Faults: make([]Fault, MaxFaults+1)}, "faults", "65 faults", "at most 64"},
		{with(func(f *Fault) { f.Name = "" }), "faults[0].name", "", "any name"},
		{with(func(f *Fault) { f.Length = -s }), "faults[0].length", "-1s", "more than 0s, or nothing for open"},
		{with(func(f *Fault) { f.Length, f.Every = 0, s }),
			"faults[0].every", "1s", "nothing for once, since the window has no end"},
		{with(func(f *Fault) { f.Start = -1 }), "faults[0].start", "-1ns", "0s or more"},
		{with(func(f *Fault) { f.Every = s }),
			"faults[0].every", "1s", "more than the length 1s, or nothing for once"},
		{with(func(f *Fault) { f.Kind = 99 }),
			"faults[0].kind", "99", "one of " + strings.Join(KindNames(), ", ")},
		{with(func(f *Fault) { f.Kind, f.Status = Errors, 200 }),
			"faults[0].status", "200", "400 to 599"},
		{with(func(f *Fault) { f.Kind, f.Status, f.Share = Errors, 500, Always+1 }),
			"faults[0].share", "1.000001", "0 to 1"},
		{with(func(f *Fault) { f.Kind, f.How, f.Match.Path = Outage, ByRefusing, "/pay" }),
			"faults[0].path", "/pay", "nothing where the outage is to refuse: it looks at no request"},
		{with(func(f *Fault) { f.Kind, f.How, f.Match.Methods = Outage, ByFreezing, 0b11 }),
			"faults[0].methods", "GET, HEAD",
			"nothing where the outage is to freeze: it looks at no request"},
		{with(func(f *Fault) { f.Kind, f.How, f.Match.Clients = Outage, ByFreezing, 250 }),
			"faults[0].clients", "0.25", "nothing where the outage is to freeze: it looks at no request"},
		{with(func(f *Fault) { f.Added = 2 * time.Hour }), "faults[0].added", "2h", "1ns to 1h"},
		{with(func(f *Fault) { f.Kind = Quota }),
			"faults[0].rate", "0/s", "0.001/s to 1000000/s"},
		{with(func(f *Fault) { f.Kind, f.Limit = Quota, RateLimit{Rate: 1, Burst: -1} }),
			"faults[0].burst", "-1", "1 to 1000000"},
		{with(func(f *Fault) { f.Kind, f.Limit = Quota, RateLimit{Rate: 1, Form: 99} }),
			"faults[0].retry_after", "99", "one of " + strings.Join(wire.HintNames(), ", ")},
		{with(func(f *Fault) { f.Kind, f.Limit = Quota, RateLimit{Rate: 1, Law: 9} }),
			"faults[0].law", "9", "one of token-bucket, fixed-window, sliding-window"},
		{with(func(f *Fault) { f.Kind, f.Limit = Quota, RateLimit{Rate: 1, Window: -1} }),
			"faults[0].window", "-1ns", "1ms to 1h"},
		{Config{Limit: RateLimit{Jitter: 10_001}}, "server.limit.jitter", "10.001", "0 to 10"},
		{Config{ClockSkew: maxSkew + 1}, "server.clock_skew", "8760h0m0.000000001s", "-8760h to 8760h"},
		{Config{Effects: Effects{TTL: -1}}, "server.idempotency_ttl", "-1ns", "1ms to 720h"},
		{Config{Faults: []Fault{ok, ok}},
			"faults[1].name", "f", "a name that faults[0] does not have"},
	} {
		err := c.config.Validate()
		var e *knob.Error
		if !errors.As(err, &e) {
			t.Errorf("%s %s: error %v, want a knob.Error", c.field, c.value, err)
			continue
		}
		if e.Knob != c.field || e.Value != c.value || e.Allowed != c.allows {
			t.Errorf("error %v, want one with %s, %q, %s", err, c.field, c.value, c.allows)
		}
		if _, err := New(c.config, 0, 0); !errors.As(err, &e) {
			t.Errorf("New of a bad %s: error %v", c.field, err)
		}
	}
}

func TestZeroConfigurationIsValid(t *testing.T) {
	if err := (Config{}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestNamesMatchTheirValues(t *testing.T) {
	if len(KindNames()) != NumKinds || Quota.String() != "quota" || Outage.String() != "outage" {
		t.Errorf("kinds: %v", KindNames())
	}
	if LognormalShape.String() != "lognormal" || Shape(9).String() != "unknown(9)" {
		t.Errorf("shapes: %v", ShapeNames())
	}
	if wire.NoFault < MaxFaults {
		t.Errorf("NoFault %d is the index of a fault", wire.NoFault)
	}
}
