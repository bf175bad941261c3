package engine_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

func TestTheDefaultPolicyIsValid(t *testing.T) {
	if err := engine.Default().Validate(); err != nil {
		t.Error(err)
	}
}

// Two hundred requests meet a service that is down for good: the breaker opens as
// soon as it has seen enough calls, and few of them reach the service.
func TestTheDefaultPolicySparesAServiceThatIsDown(t *testing.T) {
	policy := engine.Default()
	m := engine.New(1, 1, 1, &policy)
	var now clock.Instant
	attempts, refused := 0, 0
	play := func(in engine.Input) {
		for queue := []engine.Input{in}; len(queue) > 0; queue = queue[1:] {
			for _, e := range m.Step(now, queue[0], nil) {
				switch {
				case e.Kind == engine.Send:
					attempts++
					queue = append(queue, engine.Input{
						Kind: engine.Answered, ID: e.Attempt.ID, Reply: wire.Reply{Status: 503},
					})
				case e.Event.Kind == wire.RequestDone && e.Event.Outcome == wire.ShortCircuited:
					refused++
				}
			}
		}
	}
	for n := range 200 {
		for at, ok := m.Deadline(); ok && at <= now; at, ok = m.Deadline() {
			play(engine.Input{Kind: engine.Tick})
		}
		play(engine.Input{Kind: engine.Submit, Request: wire.RequestID(n + 1), Since: now})
		now = now.Add(10 * time.Millisecond)
	}
	if attempts < 20 || attempts > 40 || refused < 150 {
		t.Errorf("%d attempts, %d requests refused", attempts, refused)
	}
}
