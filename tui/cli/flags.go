package cli

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"herdscope/engine/knob"
	"herdscope/scenarios"
)

// experiment is the flags that say what is run.
type experiment struct {
	seed seedFlag
	sets []string
}

func (e *experiment) register(cmd *cobra.Command) {
	cmd.Flags().Var(&e.seed, "seed", "root of all random draws (default: the scenario's own)")
	cmd.Flags().StringArrayVar(&e.sets, "set", nil,
		"give a knob another value: `KNOB=VALUE`, as in retry.jitter=full; may be repeated")
}

// load finds a scenario and applies the flags to it.
func (e *experiment) load(a *app, ref string) (scenarios.Scenario, error) {
	s, err := a.find(ref)
	if err != nil {
		return s, err
	}
	if e.seed.given {
		s.Seed = e.seed.value
	}
	for _, set := range e.sets {
		if err := apply(&s, set); err != nil {
			return s, err
		}
	}
	if err := s.Validate(); err != nil {
		return s, usage("%s: %w", s.Name, err)
	}
	return s, nil
}

// apply does one --set.
func apply(s *scenarios.Scenario, set string) error {
	name, value, ok := strings.Cut(set, "=")
	if !ok || strings.TrimSpace(name) == "" {
		return usage("--set %s: want knob=value, as in retry.jitter=full", knob.Quote(set))
	}
	if err := s.Set(strings.TrimSpace(name), strings.TrimSpace(value)); err != nil {
		return usage("--set %w", err)
	}
	return nil
}

// seedFlag is a number from 0 to 2^64-1 in decimal digits.
type seedFlag struct {
	value uint64
	given bool
}

func (f *seedFlag) String() string { return "" }
func (f *seedFlag) Type() string   { return "N" }

func (f *seedFlag) Set(text string) error {
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return errors.New("want a whole number from 0 to 18446744073709551615")
	}
	f.value, f.given = v, true
	return nil
}

// lengthFlag is a time as scenario files write their duration; 0 is not given.
type lengthFlag time.Duration

func (f *lengthFlag) String() string { return "" }
func (f *lengthFlag) Type() string   { return "D" }

func (f *lengthFlag) Set(text string) error {
	v, err := scenarios.DurationSpec.Parse(text)
	var refused *knob.Error
	if errors.As(err, &refused) {
		return errors.New(refused.Problem + "; allowed: " + refused.Allowed)
	}
	*f = lengthFlag(v)
	return err
}

// countFlag is a whole number in a range.
type countFlag struct{ value, low, high int }

func (f *countFlag) String() string { return strconv.Itoa(f.value) }
func (f *countFlag) Type() string   { return "N" }

func (f *countFlag) Set(text string) error {
	v, err := strconv.Atoi(text)
	if err != nil || v < f.low || v > f.high {
		return errors.New("want a whole number from " + strconv.Itoa(f.low) + " to " + strconv.Itoa(f.high))
	}
	f.value = v
	return nil
}
