package live

import (
	"net/http"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/retryafter"
	"herdscope/engine/sim"
	"herdscope/engine/wire"
)

// A server whose clock is a minute wrong asks for 2 s by a date. Over a socket as in
// virtual time, the fleet learns how wrong it is, and so what is really meant.
func TestTheLeadOfAServersClockIsTheSameLiveAndVirtual(t *testing.T) {
	c := NewClock()
	for _, wrong := range []time.Duration{time.Minute, -time.Minute} {
		date := c.Epoch().Add(wrong).UTC().Truncate(time.Second)
		until := date.Add(2 * time.Second)
		h := hinted{lines: []string{
			"Date: " + date.Format(http.TimeFormat),
			"Retry-After: " + until.Format(http.TimeFormat),
		}}
		v := newVolleys(1, 1, wire.Get)
		_, stop := begin(t, Config{Fleet: v, Clock: c, BaseURL: h.serve(t, 503)})
		<-v.done
		stop()
		live := v.fedSoFar(fleet.Answered)[0]
		f := &oneAttempt{}
		s := sim.New(sim.Config{
			Fleet: f, Epoch: c.Epoch().UnixNano(),
			Date: func(clock.Instant) int64 { return date.Unix() },
			Server: model{wire.Reply{
				Status: 503, Hint: wire.Hint{Form: wire.HintIMFDate, Value: until.Unix()},
			}},
		})
		if err := s.RunUntil(0); err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string]time.Duration{
			"live":    live.in.NotBefore.Add(-live.in.Lead).Sub(live.at),
			"virtual": f.got.NotBefore.Add(-f.got.Lead).Sub(f.at),
		} {
			if got != 2*time.Second {
				t.Errorf("%v, %s: by Date the wait is %v, want 2s", wrong, name, got)
			}
		}
	}
}

func TestLeadWithoutADate(t *testing.T) {
	for _, text := range []string{"", "now"} {
		h := http.Header{"Date": {text}}
		if got := lead(dateOf(h), 0, retryafter.VirtualEpochUnixNanos); got != 0 {
			t.Errorf("%q: %v ahead", text, got)
		}
	}
}
