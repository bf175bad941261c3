package run

import (
	"testing"
	"time"

	"go.uber.org/goleak"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// TestAThousandClientsShareABreaker runs an outage with one breaker for all, be
// others refused or in line, and switched off and on half-way: the identities
// hold throughout, and the breaker is one in every snapshot.
func TestAThousandClientsShareABreaker(t *testing.T) {
	for _, when := range []string{"reject", "wait"} {
		t.Run(when, func(t *testing.T) {
			s := builtin(t, "gateway-down", "fleet.clients", "1000", "breaker.shared", "on",
				"breaker.when_open", when)
			s.Duration, s.Drain = 25*time.Second, 5*time.Second
			for i, to := range []int64{0, 1} {
				s.Timeline = append(s.Timeline, scenarios.Action{
					At: clock.Instant(12+2*i) * clock.Instant(time.Second), Kind: scenarios.SetKnob,
					Knob: "breaker.shared", Value: to,
				})
			}
			if r := checked(t, s); r.Summary.Opened == 0 {
				t.Error("the breaker never opened")
			}
		})
	}
}

// TestLiveFleetSharesABreaker does so over real HTTP.
func TestLiveFleetSharesABreaker(t *testing.T) {
	defer goleak.VerifyNone(t)
	s := builtin(t, "restart", "fleet.clients", "60", "server.service.mean", "50ms",
		"retry.base", "100ms", "fault.restart.start", "300ms", "fault.restart.length", "400ms",
		"fault.restart.every", "once", "breaker.shared", "on", "breaker.failures", "3",
		"breaker.open_for", "100ms", "breaker.when_open", "wait")
	s.Duration, s.Drain = 1200*time.Millisecond, time.Minute
	r := runLive(t, s)
	if r.Summary.Outcomes[wire.Unfinished] != 0 || r.Summary.Opened == 0 || r.Summary.Closed == 0 {
		t.Errorf("%d unfinished; opened %d, closed %d times",
			r.Summary.Outcomes[wire.Unfinished], r.Summary.Opened, r.Summary.Closed)
	}
}
