package metrics

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Check says what in a Snapshot cannot be: counts that do not sum up,
// percentiles out of order, times out of order, numbers that are none. It is nil
// for every Snapshot of a run whose events are whole and in order.
func (s *Snapshot) Check() error {
	c := checker{what: fmt.Sprintf("snapshot %d at %v", s.Seq, s.At.Duration())}
	c.requests(s.Requests, s.Attempts, s.Retries, s.InFlight, s.Outcomes)
	c.equal("requests waiting by class", s.waiting(), s.Waiting)
	c.atLeast("sleeping", s.Sleeping, 0)
	c.atLeast("paused", s.Paused, 0)
	c.atLeast("sharing", s.Sharing, 0)
	c.atLeast("nesting", s.Nesting, 0)
	c.atLeast("missed", s.Missed, 0)
	c.atLeast("denied", s.Denied, 0)
	c.headline("now", s.Now)
	c.headline("was", s.Was)
	for i, q := range s.Queues {
		name := "wait of " + wire.Class(i).String()
		c.ordered(name, q.P50, q.P99, q.Max)
		c.ordered(name+", oldest and max", q.Oldest, q.Max)
		c.atLeast(name+" count", q.Count, q.Waiting)
	}
	c.sockets(s.Sockets)
	c.breakers(s)
	c.server(&s.Server)
	c.bins(s)
	if s.Latency != nil {
		c.latency(s)
	}
	if s.Lines != nil {
		c.lines(s)
	}
	if s.Lanes != nil {
		c.lanes(s)
	}
	c.story(s)
	c.finite(reflect.ValueOf(*s), "")
	return c.err()
}

// Check says what in a Summary cannot be, as Snapshot.Check does.
func (s Summary) Check() error {
	c := checker{what: "summary"}
	c.requests(s.Requests, s.Attempts, s.Retries, s.InFlight, s.Outcomes)
	var statuses int64
	for _, n := range s.Statuses {
		statuses += n
	}
	c.equal("statuses and attempts ended", statuses, s.Attempts-s.InFlight)
	var latencies int64
	for i := range s.Latency {
		latencies += s.Latency[i].Count
		c.percentiles("latency", i, s.Latency[i])
		c.percentiles("wait", i, s.Waits[i])
		c.ordered("oldest wait", s.Oldest[i], s.Waits[i].Max)
		c.ordered("average wait", s.WaitEWMA[i], s.Waits[i].Max)
		c.ordered("service gap", s.ServiceGap[i])
	}
	c.atLeast("arrivals", s.Arrivals, s.Rejected+s.Reset)
	c.atLeast("requests", s.Requests, s.Joined+s.Deadlocks)
	c.atLeast("requests", s.Requests, s.Refreshes.Begun)
	c.atLeast("token refreshes", s.Refreshes.Begun, s.Refreshes.Failed)
	c.atLeast("arrivals", s.Arrivals, s.Herd.Arrivals)
	c.atLeast("successes", s.Outcomes[wire.Succeeded], latencies)
	c.sockets(s.Sockets)
	c.ordered("page", s.Pages.P50, s.Pages.P90, s.Pages.P99, s.Pages.Max)
	c.atLeast("successes", s.Outcomes[wire.Succeeded], s.Pages.Count)
	c.atLeast("requests without success", s.Requests-s.Outcomes[wire.Succeeded], s.PagesFailed)
	for _, share := range []float64{
		s.OpenShare, s.BusyShare, s.WastedShare, s.Herd.R, s.Herd.HintedWaveShare,
	} {
		c.share(share)
	}
	c.finite(reflect.ValueOf(s), "")
	return c.err()
}

func (s *Snapshot) waiting() (n int64) {
	for _, q := range s.Queues {
		n += q.Waiting
	}
	return n
}

// checker collects what is wrong.
type checker struct {
	what  string
	wrong []error
}

func (c *checker) failf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf(format, args...))
}

func (c *checker) err() error {
	if len(c.wrong) == 0 {
		return nil
	}
	return fmt.Errorf("%s: %w", c.what, errors.Join(c.wrong...))
}

func (c *checker) equal(name string, got, want int64) {
	if got != want {
		c.failf("%s: %d and %d differ", name, got, want)
	}
}

func (c *checker) atLeast(name string, got, least int64) {
	if got < least {
		c.failf("%s is %d, less than %d", name, got, least)
	}
}

func (c *checker) ordered(name string, times ...time.Duration) {
	before := time.Duration(0)
	for _, t := range times {
		if t < before {
			c.failf("%s: %v are not in order", name, times)
			return
		}
		before = t
	}
}

func (c *checker) share(x float64) {
	if x < 0 || x > 1 {
		c.failf("a share is %v", x)
	}
}

func (c *checker) requests(
	requests, attempts, retries, inFlight int64, outcomes [wire.NumOutcomes]int64,
) {
	var sum int64
	for o, n := range outcomes {
		c.atLeast("requests "+wire.Outcome(o).String(), n, 0)
		sum += n
	}
	c.equal("requests and the sum of outcomes", requests, sum)
	c.atLeast("retries", retries, 0)
	c.atLeast("attempts", attempts, retries)
	c.atLeast("in flight", inFlight, 0)
	c.atLeast("attempts", attempts, inFlight)
}

func (c *checker) headline(name string, h Headline) {
	c.ordered(name+" latency", h.P50, h.Max)
	if h.Count >= enoughForP99 {
		c.ordered(name+" latency", h.P50, h.P99, h.Max)
	}
}

func (c *checker) percentiles(name string, class int, p Percentiles) {
	c.ordered(name+" of "+wire.Class(class).String(), p.P50, p.P90, p.P99, p.Max)
	if p.Count == 0 && p != (Percentiles{}) {
		c.failf("%s of %v: times without a count", name, wire.Class(class))
	}
}

func (c *checker) breakers(s *Snapshot) {
	var sum int64
	for state, n := range s.Breakers.Counts {
		c.atLeast("breakers "+wire.BreakerState(state).String(), n, 0)
		sum += n
	}
	c.equal("breakers by state", sum, s.Breakers.Total)
	if s.Clients > 0 && !s.Breakers.Shared && s.Breakers.Total%int64(s.Clients) != 0 {
		c.failf("%d clients have %d breakers", s.Clients, s.Breakers.Total)
	}
	if s.Breakers.Shared && s.Breakers.Total > wire.MaxScopes {
		c.failf("%d breakers are shared: one a scope", s.Breakers.Total)
	}
	c.share(s.Breakers.OpenShare)
}

func (c *checker) server(v *ServerView) {
	c.atLeast("server busy", v.Busy, 0)
	c.atLeast("server backlog", v.Backlog, 0)
	c.equal("attempts at the server", v.Rejected+v.Reset+v.Done+v.Cancelled+v.Swallowed+v.Replayed+
		v.Busy+v.Backlog, v.Arrivals)
	c.atLeast("duplicate effects", v.Duplicates, v.Repeated)
	c.share(v.WastedShare)
	c.share(v.BusyShare)
}

func (c *checker) bins(s *Snapshot) {
	if len(s.Bins) == 0 || s.BinWidth <= 0 {
		c.failf("there are no bins")
		return
	}
	for i, b := range s.Bins {
		if want := s.Bins[0].Start.Add(time.Duration(i) * s.BinWidth); b.Start != want {
			c.failf("bin %d begins at %v, want %v", i, b.Start.Duration(), want.Duration())
		}
		least := min(b.First, b.Retry, b.Began, b.Sent, b.Good, b.Bad, b.Refused, b.Busy, b.Backlog)
		c.atLeast("a count in a bin", int64(least), 0)
		var ended int64
		for _, n := range b.Ended {
			ended += int64(n)
		}
		c.equal("outcomes in a bin", ended, int64(b.Good)+int64(b.Bad))
	}
	last := s.Bins[len(s.Bins)-1].Start
	if s.At < last || s.At >= last.Add(s.BinWidth) {
		c.failf("the last bin begins at %v", last.Duration())
	}
}

func (c *checker) story(s *Snapshot) {
	marks, notes := clock.Instant(math.MinInt64), clock.Instant(math.MinInt64)
	for _, m := range s.Marks {
		if m.At < marks || m.Until < m.At {
			c.failf("mark %+v is out of order", m)
		}
		marks = m.At
	}
	for _, n := range s.Notes {
		if n.At < notes {
			c.failf("note %+v is out of order", n)
		}
		notes = n.At
	}
}

// finite looks for numbers that are none, everywhere.
func (c *checker) finite(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Float64, reflect.Float32:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			c.failf("%s is %v", path, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.finite(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice, reflect.Array:
		if !holdsFloats(v.Type().Elem()) {
			return
		}
		for i := range v.Len() {
			c.finite(v.Index(i), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			c.finite(v.Elem(), path)
		}
	}
}

// holdsFloats says whether a value of the type may hold a floating-point number.
func holdsFloats(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Float64, reflect.Float32:
		return true
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsFloats(t.Field(i).Type) {
				return true
			}
		}
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return holdsFloats(t.Elem())
	}
	return false
}
