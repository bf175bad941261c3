package pagetest

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/page"
)

// View is what pages draw of a run of s after d. tuned sets the jitter to full
// four seconds before that. The settings are a fixed few, so that golden frames
// do not change with the table of knobs.
func View(s scenarios.Scenario, d time.Duration, tuned bool, watch func(page.View) metrics.Watch) page.View {
	r := New(s)
	v := page.View{
		Scenario: s, Tune: &page.Tune{}, Span: page.DefaultSpan, Snap: r.Snapshot(),
		Knobs:  knobs(),
		Status: page.Status{Seed: 42, Speed: 1, Elapsed: clock.Instant(d), Live: true},
	}
	r.Watch(watch(v))
	if tuned {
		r.Advance(clock.Instant(d - 4*time.Second))
		if err := r.Do(scenarios.Action{Kind: scenarios.SetKnob, Knob: "retry.jitter", Value: 1}); err != nil {
			panic(err) // The model and the table of knobs disagree.
		}
		v.Knobs[0].Value = 1
	}
	r.Advance(clock.Instant(d))
	v.Snap, v.Scenario = r.Snapshot(), r.Scenario()
	return v
}

func knobs() []page.Knob {
	const s, hour = int64(time.Second), int64(time.Hour)
	return []page.Knob{
		{Spec: knob.Spec{
			Name: "retry.jitter", Kind: knob.Choice, Choices: []string{"none", "full", "equal", "decorrelated"},
			Doc: "how the wait before a retry is spread",
		}},
		{Spec: knob.Spec{
			Name: "retry.attempts", Unit: "attempts", Min: 1, Max: 100, Step: 1,
			Doc: "the largest number of tries of a request, the first included",
		}, Value: 6},
		{Spec: knob.Spec{
			Name: "retry.base", Kind: knob.Duration, Min: s / 1000, Max: hour, Step: s / 10,
			Doc: "the longest wait before the first retry",
		}, Value: 1200 * s / 1000},
		{Spec: knob.Spec{
			Name: "queue.limit", Unit: "attempts", Max: 10000, Step: 1, Zero: "unlimited",
			Doc: "how many attempts a scope may have in flight",
		}},
		{Spec: knob.Spec{
			Name: "arrival.rate", Kind: knob.Rate, Max: 1e9, Step: 10_000, Doc: "requests begun by the whole fleet",
		}, Value: 200_000},
		{Spec: knob.Spec{Name: "retry.network", Kind: knob.Switch, Doc: "retry attempts without a reply"}, Value: 1},
		{Spec: knob.Spec{Name: "fleet.clients", Unit: "clients", Min: 1, Max: 100_000, Fixed: true, Doc: "callers"}, Value: 1000},
	}
}
