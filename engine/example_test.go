package engine_test

import (
	"fmt"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// A driver in a dozen lines: its clock jumps from deadline to deadline, and its
// server is busy once and then fine, 50 ms after it was asked.
func ExampleMachine() {
	policy := engine.Policy{
		Retry: engine.Retry{
			Attempts: 3,
			Backoff:  backoff.Config{Base: 200 * time.Millisecond, Cap: time.Second, Multiplier: 2000},
		},
		Breaker: breaker.Config{OpenFor: time.Second, Probes: 1, Successes: 1},
	}
	m := engine.New(0, 1, 1, &policy)
	now := clock.Instant(0)
	inputs := []engine.Input{{Kind: engine.Submit, Request: 1, Class: wire.Interactive}}
	statuses := []uint16{503, 200}
	for len(inputs) > 0 {
		effects := m.Step(now, inputs[0], nil)
		inputs = inputs[1:]
		for _, e := range effects {
			switch e.Kind {
			case engine.Send:
				now = now.Add(50 * time.Millisecond)
				reply := wire.Reply{Status: statuses[e.Attempt.ID.Try-1]}
				inputs = append(inputs, engine.Input{
					Kind: engine.Answered, ID: e.Attempt.ID, Reply: reply,
				})
			case engine.Report:
				fmt.Println(e.Event.At.Duration(), e.Event.Kind)
			}
		}
		if at, ok := m.Deadline(); ok && len(inputs) == 0 {
			now = at
			inputs = append(inputs, engine.Input{Kind: engine.Tick})
		}
	}
	// Output:
	// 0s request_began
	// 0s attempt_sent
	// 50ms attempt_ended
	// 50ms retry_scheduled
	// 250ms attempt_sent
	// 300ms attempt_ended
	// 300ms request_done
}
