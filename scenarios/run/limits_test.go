package run

import (
	"testing"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// P-L11: what a fleet that obeys makes of each form of Retry-After, as the server
// counts its returns: all of one kind. One that nobody can read is no reason to
// wait, nor is a moment that has passed; nobody lives to see the end of a huge one.
func TestPL11ReturnsByForm(t *testing.T) {
	only := func(s *metrics.Summary, n int64) bool {
		return n > 1000 && s.Early+s.OnTime+s.Late+s.Untold == n
	}
	onTime := func(s *metrics.Summary) bool { return only(s, s.OnTime) }
	untold := func(s *metrics.Summary) bool { return only(s, s.Untold) }
	for form, ok := range map[string]func(*metrics.Summary) bool{
		"none":     func(s *metrics.Summary) bool { return s.Early+s.OnTime+s.Late+s.Untold == 0 },
		"seconds":  onTime,
		"rfc850":   onTime,
		"asctime":  onTime,
		"negative": untold,
		"fraction": untold,
		"signed":   untold,
		"garbage":  untold,
		"empty":    untold,
		"past":     func(s *metrics.Summary) bool { return only(s, s.Late) },
		"huge": func(s *metrics.Summary) bool {
			return s.Early+s.OnTime+s.Late+s.Untold == 0 && s.Outcomes[wire.Failed] > 1000
		},
		"twice":  onTime,
		"padded": onTime,
		// Who does not know of the field comes back by the backoff, too early.
		"pushback":      func(s *metrics.Summary) bool { return only(s, s.Early+s.OnTime+s.Late) && s.Early > 0 },
		"pushback-stop": func(s *metrics.Summary) bool { return only(s, s.Early) },
	} {
		hinted := logOf(wire.RetryScheduled)
		s := runVirtual(t, builtin(t, "rate-limit", "fault.quota.retry_after", form), hinted).Summary
		if !ok(&s) {
			t.Errorf("%s: %d early, %d on time, %d late, %d untold; %d failed",
				form, s.Early, s.OnTime, s.Late, s.Untold, s.Outcomes[wire.Failed])
		}
		for _, e := range hinted.events {
			if e.Hinted && s.Untold > 0 {
				t.Fatalf("%s: a retry waits for a field that nobody can read: %+v", form, e)
			}
		}
	}
}

// A fleet on the right clock comes late by as much as the server's is ahead. To
// one that is behind it comes too early: the dates have passed, and only the
// backoff is left.
func TestPL11SkewedClockMakesReturnsLate(t *testing.T) {
	for skew, ok := range map[string]func(*metrics.Summary) bool{
		"0s":  func(s *metrics.Summary) bool { return s.OnTime > 1000 && s.Early+s.Late == 0 },
		"3s":  func(s *metrics.Summary) bool { return s.Late > 1000 && s.Early+s.OnTime == 0 },
		"-3s": func(s *metrics.Summary) bool { return s.Early > s.OnTime+s.Late },
	} {
		s := runVirtual(t, builtin(t, "rate-limit", "server.clock_skew", skew)).Summary
		if !ok(&s) {
			t.Errorf("%s: %d early, %d on time, %d late", skew, s.Early, s.OnTime, s.Late)
		}
	}
}

// By Date nobody is early or late, however wrong the server's clock is, and though
// Date leaves out up to a second.
func TestRetryAfterByDateForgivesASkewedClock(t *testing.T) {
	for _, skew := range []string{"60s", "-60s"} {
		returned := logOf(wire.ServerReturned)
		s := runVirtual(t, builtin(t, "rate-limit", "server.clock_skew", skew,
			"retry.retry_after_clock", "date"), returned).Summary
		if s.OnTime < 1000 || s.Early > 0 {
			t.Errorf("%s: %d early, %d on time, %d late", skew, s.Early, s.OnTime, s.Late)
		}
	}
}

// pay charges cards with a timeout that cuts off a fifth of the work.
const pay = `version: 1
name: pay
duration: 20s
drain: 10s
fleet: {clients: 50}
arrival: {kind: poisson, rate: 50/s, keys: on}
classes:
  interactive: {weight: 1, path: /pay, scope: pay, method: POST, timeout: 300ms}
retry: {attempts: 4, base: 200ms, cap: 1s, jitter: full, methods: with-key, timeouts: on}
server: {workers: 40, service: {shape: exponential, mean: 200ms}}
`

// Keys alone prevent nothing: the server must read them. If it does, those who
// come again too early are told 409, which this client does not retry.
func TestRepeatedChargesAndTheKeysAgainstThem(t *testing.T) {
	s, err := scenarios.Parse("pay.yaml", []byte(pay))
	if err != nil {
		t.Fatal(err)
	}
	log := logOf(wire.ServerRepeated)
	off := runVirtual(t, s, log).Summary
	if off.Repeated < 100 || off.Duplicates < off.Repeated || off.Replayed != 0 ||
		off.Statuses[409] != 0 || len(off.Repeats) != metrics.MaxRepeats ||
		int64(len(log.events)) != off.Duplicates {
		t.Errorf("without: %d effects too many of %d requests, %d listed, %d events, %d replayed",
			off.Duplicates, off.Repeated, len(off.Repeats), len(log.events), off.Replayed)
	}
	if err := s.Set("server.idempotency", "on"); err != nil {
		t.Fatal(err)
	}
	on := runVirtual(t, s).Summary
	if on.Duplicates != 0 || on.Repeated != 0 || on.Replayed < 50 || on.Statuses[409] < 50 ||
		on.Outcomes[wire.Failed] != on.Statuses[409] {
		t.Errorf("with: %d duplicates, %d replayed, %d times 409, %d failed",
			on.Duplicates, on.Replayed, on.Statuses[409], on.Outcomes[wire.Failed])
	}
	// A reply that is kept for no longer than it takes to come again is of no use.
	if err := s.Set("server.idempotency_ttl", "1ms"); err != nil {
		t.Fatal(err)
	}
	if brief := runVirtual(t, s).Summary; brief.Duplicates < 20 {
		t.Errorf("kept for 1 ms: %d duplicates", brief.Duplicates)
	}
}

// Each law halves what gets through alike; only a limit for each client lets a
// fleet of 500 through whose clients all stay below it.
func TestLawsInARun(t *testing.T) {
	limited := func(settings ...string) int64 {
		all := append([]string{"fault.quota.retry_after", "none"}, settings...)
		return runVirtual(t, builtin(t, "rate-limit", all...)).Summary.Rejected
	}
	bucket := limited()
	for _, law := range []string{"fixed-window", "sliding-window"} {
		if got := limited("fault.quota.law", law); got < bucket/2 || got > 2*bucket {
			t.Errorf("%s refuses %d, a bucket %d", law, got, bucket)
		}
	}
	if got := limited("fault.quota.per", "client"); got != 0 {
		t.Errorf("%d refused by a limit of 100/s for each client", got)
	}
}
