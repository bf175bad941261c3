package fault

import (
	"fmt"
	"strconv"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// Validate reports the first field that is out of range, as a *knob.Error whose
// Knob is the name of a knob or a path such as faults[2].status.
func (c Config) Validate() error {
	if err := knob.CheckAll(Fields, &c); err != nil {
		return err
	}
	if err := c.CheckServices(); err != nil {
		return err
	}
	if n := len(c.Faults); n > MaxFaults {
		return refuse("faults", strconv.Itoa(n)+" faults", fmt.Sprintf("at most %d", MaxFaults))
	}
	for i := range c.Faults {
		if err := c.checkFault(i); err != nil {
			return err
		}
	}
	return nil
}

func (c *Config) checkFault(i int) error {
	f, at := &c.Faults[i], fmt.Sprintf("faults[%d].", i)
	if err := c.checkName(i, at+"name"); err != nil {
		return err
	}
	if err := f.checkWindow(at); err != nil {
		return err
	}
	switch f.Kind {
	case Outage:
		return nil
	case Errors:
		return f.checkErrors(at)
	case Latency:
		return knob.Spec{Name: at + "added", Kind: knob.Duration, Max: int64(MaxMean)}.
			Check(int64(f.Added))
	case Quota:
		return f.Limit.checkQuota(at)
	}
	return knob.Spec{Name: at + "kind", Kind: knob.Choice, Choices: kindNames}.
		Check(int64(f.Kind))
}

// checkName checks that fault i has a name of its own, since hands and routes
// refer to faults by name.
func (c *Config) checkName(i int, at string) error {
	name := c.Faults[i].Name
	if name == "" {
		return refuse(at, name, "any name")
	}
	for j := range i {
		if c.Faults[j].Name == name {
			return refuse(at, name, fmt.Sprintf("a name that faults[%d] does not have", j))
		}
	}
	return nil
}

// checkWindow checks that windows have a length and do not run into each other,
// so that each has two edges.
func (f *Fault) checkWindow(at string) error {
	switch {
	case f.Length < 0 || f.Length == 0 && !f.Manual:
		return refuse(at+"length", f.Length.String(), "more than 0s")
	case f.Manual:
		return nil
	case f.Start < 0:
		return refuse(at+"start", f.Start.String(), "0s or more")
	case f.Every != 0 && f.Every <= f.Length:
		return refuse(at+"every", f.Every.String(),
			"more than the length "+f.Length.String()+", or nothing for once")
	}
	return nil
}

func (f *Fault) checkErrors(at string) error {
	status := knob.Spec{Name: at + "status", Kind: knob.Int, Min: 400, Max: 599}
	if err := status.Check(int64(f.Status)); err != nil {
		return err
	}
	return knob.Spec{Name: at + "share", Kind: knob.Ratio, Max: 1000}.Check(f.Share)
}

func (l *RateLimit) checkQuota(at string) error {
	rate := knob.Spec{Name: at + "rate", Kind: knob.Rate, Min: 1, Max: MaxRate}
	if err := rate.Check(l.Rate); err != nil {
		return err
	}
	burst := knob.Spec{Name: at + "burst", Kind: knob.Int, Min: 1, Max: MaxWorkers}
	if err := burst.Check(int64(l.burst())); err != nil {
		return err
	}
	form := knob.Spec{Name: at + "retry_after", Kind: knob.Choice, Choices: wire.HintNames()}
	if err := form.Check(int64(l.Form)); err != nil {
		return err
	}
	return knob.CheckAll(lift(rateFields, at, func(l *RateLimit) *RateLimit { return l }), l)
}

func refuse(at, value, allowed string) error {
	return &knob.Error{Knob: at, Value: value, Problem: "is out of range", Allowed: allowed}
}
