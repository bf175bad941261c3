package engine_test

import (
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// floor does of a Step only what nobody can leave out: it takes the input, and
// writes down the two effects that a first attempt has. What a Step costs beyond
// it is the engine.
type floor struct {
	requests [4]engine.Input
	out      []engine.Effect
}

//go:noinline
func (f *floor) step(now clock.Instant, in engine.Input) {
	f.requests[in.Request%4] = in
	f.out = append(f.out[:0],
		engine.Effect{Kind: engine.Send, Attempt: wire.Attempt{Class: in.Class, Method: in.Method}},
		engine.Effect{Kind: engine.Report, Event: wire.Event{Kind: wire.AttemptSent, At: now}},
	)
}

// BenchmarkStepOf is a request from its submission to its end. The floor is as
// many calls that do nothing but write down effects; the rest is in ratios to it.
func BenchmarkStepOf(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		var f floor
		b.ReportAllocs()
		for i := wire.RequestID(1); b.Loop(); i++ {
			f.step(clock.Instant(i), engine.Input{Kind: engine.Submit, Request: i})
			f.step(clock.Instant(i), engine.Input{Kind: engine.Answered, Request: i})
		}
	})
	b.Run("first attempt success", func(b *testing.B) { benchRequest(b, 0) })
	b.Run("one retry with full jitter", func(b *testing.B) { benchRequest(b, 1) })
}

// benchRequest runs requests one after another, each of which fails as often as
// given, waits with full jitter, and then succeeds.
func benchRequest(b *testing.B, failures int) {
	p := plain()
	p.Retry.Backoff.Jitter = backoff.Full
	m := engine.New(1, 1, 1, &p)
	var out []engine.Effect
	now := clock.Instant(0)
	step := func(in engine.Input) { out = m.Step(now, in, out[:0]) }
	b.ReportAllocs()
	for i := wire.RequestID(1); b.Loop(); i++ {
		now = now.Add(time.Millisecond)
		step(engine.Input{Kind: engine.Submit, Request: i, Since: now})
		id := wire.AttemptID{Client: 1, Request: i, Try: 1}
		for range failures {
			step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 503}})
			now, _ = m.Deadline()
			step(engine.Input{Kind: engine.Tick})
			id.Try++
		}
		step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 200}})
	}
	if m.Counts() != (engine.Counts{}) {
		b.Fatalf("requests are left: %+v", m.Counts())
	}
}
