package metrics

import (
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// BreakerFilter says which breakers are wanted.
type BreakerFilter uint8

// The filters.
const (
	// AllBreakers wants all.
	AllBreakers BreakerFilter = iota
	// NotClosed wants those that are not closed now.
	NotClosed
	// Probing wants those that are eligible or half-open now.
	Probing
	// Tripped wants those that have ever opened.
	Tripped

	// NumBreakerFilters is the number of filters.
	NumBreakerFilters = int(Tripped) + 1
)

var filterNames = [NumBreakerFilters]string{"all", "not closed", "probing", "ever opened"}

// String is the filter in words.
func (f BreakerFilter) String() string { return filterNames[int(f)%NumBreakerFilters] }

// NoState marks the part of a Strip of which nothing is known.
const NoState = wire.BreakerState(255)

// LaneView is some breakers in detail, and the transitions of all.
type LaneView struct {
	// Matching is how many breakers the filter lets through, of which Lanes are
	// some, after the Skipped first: those first that are in trouble, now or in the
	// last ten seconds, and of these those that opened most often.
	Matching, Skipped int64
	Lanes             []Lane
	// Start and Width are of the columns of the Strips; the last is that of now.
	Start clock.Instant
	Width time.Duration
	// Flips are the latest transitions, newest first. Their counts are those of all
	// transitions since the oldest of them.
	Flips []Flips
	// Total is how many transitions there were in the whole run.
	Total int64
}

// Lane is one breaker.
type Lane struct {
	// Client is whose it is, unless it is Shared by all.
	Client wire.ClientID
	Scope  uint8
	Shared bool
	State  wire.BreakerState
	Since  clock.Instant
	// Opened counts how often it opened, Good and Bad how its probes ended.
	Opened, Good, Bad int64
	// Strip is its state over time. Of several in one column it is the one that is
	// seen most rarely: half-open, then open, then eligible.
	Strip []wire.BreakerState
	// Detail is what was to be seen of it when somebody last looked; Looked says
	// that somebody has.
	Detail wire.BreakerDetail
	Looked bool
}

// Flips is transitions of one kind, for one cause, in one bin of 100 ms.
type Flips struct {
	From, To wire.BreakerState
	Cause    wire.Cause
	// At is the first of them, Last the last.
	At, Last clock.Instant
	N        int64
	// Client, Scope and Shared are the breaker of the last.
	Client wire.ClientID
	Scope  uint8
	Shared bool
}

// lanes is what is known of each breaker: by client and scope, and after those the
// shared ones by scope.
type lanes struct {
	scopes int
	own    int // breakers that belong to one client
	tracks []track
	flips  []flip
	n      uint64
	// looked is the breakers that were in the last LaneView, and what was seen of
	// them since.
	looked []looked
}

// track is one breaker.
type track struct {
	since             clock.Instant
	opened, good, bad uint32
	state             wire.BreakerState
}

// flip is one transition.
type flip struct {
	at       clock.Instant
	breaker  int32
	from, to wire.BreakerState
	cause    wire.Cause
}

type looked struct {
	breaker int32
	seen    bool
	detail  wire.BreakerDetail
}

// maxFlips is how many transitions are remembered.
const maxFlips = 1 << 16

func newLanes(c Config) lanes {
	scopes := max(1, c.Scopes)
	own := c.Clients * scopes
	return lanes{
		scopes: scopes, own: own, tracks: make([]track, own+scopes), flips: make([]flip, maxFlips),
	}
}

// number is the number of an event's breaker; false if there is none.
func (l *lanes) number(e *wire.Event) (int, bool) {
	i := int(e.ID.Client)*l.scopes + int(e.Scope)
	if e.Shared {
		return l.own + int(e.Scope), int(e.Scope) < l.scopes
	}
	return i, int(e.Scope) < l.scopes && i < l.own
}

// whose is the client and the scope of a breaker, and whether all share it.
func (l *lanes) whose(breaker int32) (client wire.ClientID, scope uint8, shared bool) {
	i := int(breaker)
	if i >= l.own {
		return 0, uint8(i - l.own), true
	}
	return wire.ClientID(i / l.scopes), uint8(i % l.scopes), false
}

// used are the numbers of the breakers in use, from one up to another.
func (l *lanes) used(shared bool) (from, to int) {
	if shared {
		return l.own, len(l.tracks)
	}
	return 0, l.own
}

// change takes in a transition.
func (l *lanes) change(e *wire.Event) {
	i, ok := l.number(e)
	if !ok || int(e.To) >= wire.NumBreakerStates {
		return
	}
	t := &l.tracks[i]
	if e.To == wire.Open {
		t.opened++
	}
	l.flips[l.n%maxFlips] = flip{at: e.At, breaker: int32(i), from: t.state, to: e.To, cause: e.Cause}
	l.n++
	t.state, t.since = e.To, e.At
}

// probed takes in how a probe ended.
func (l *lanes) probed(e *wire.Event) {
	i, ok := l.number(e)
	switch {
	case !ok:
	case e.Good:
		l.tracks[i].good++
	default:
		l.tracks[i].bad++
	}
}

// wants says whether a filter lets a breaker through.
func (f BreakerFilter) wants(t *track) bool {
	switch f {
	case NotClosed:
		return t.state != wire.Closed
	case Probing:
		return t.state == wire.Eligible || t.state == wire.HalfOpen
	case Tripped:
		return t.opened > 0
	}
	return true
}

// choose finds the first of those that match, and says how many do.
func (l *lanes) choose(
	now clock.Instant, shared bool, w Watch,
) (chosen []int32, matching int64) {
	worse := func(a, b int32) int { return l.compare(now, a, b) }
	most := w.BreakerRows + max(w.BreakerSkip, 0)
	from, to := l.used(shared)
	for i := from; i < to; i++ {
		if !w.BreakerFilter.wants(&l.tracks[i]) {
			continue
		}
		matching++
		if len(chosen) == most {
			if worse(int32(i), chosen[len(chosen)-1]) >= 0 {
				continue
			}
			chosen = chosen[:len(chosen)-1]
		}
		at, _ := slices.BinarySearchFunc(chosen, int32(i), worse)
		chosen = slices.Insert(chosen, at, int32(i))
	}
	return chosen[min(max(w.BreakerSkip, 0), len(chosen)):], matching
}

// compare puts breakers in trouble first, then those that opened most often.
func (l *lanes) compare(now clock.Instant, a, b int32) int {
	x, y := &l.tracks[a], &l.tracks[b]
	switch xs, ys := x.troubled(now), y.troubled(now); {
	case xs && !ys:
		return -1
	case ys && !xs:
		return 1
	case x.opened != y.opened:
		return int(int64(y.opened) - int64(x.opened))
	}
	return int(a - b)
}

// troubled says whether it is not closed, or was not a short time ago.
func (t *track) troubled(now clock.Instant) bool {
	return t.state != wire.Closed || t.since > 0 && now.Sub(t.since) < 10*time.Second
}

// view is the breakers that are watched.
func (l *lanes) view(
	now clock.Instant, shared bool, span time.Duration, w Watch,
) *LaneView {
	cols := max(1, min(w.BreakerCols, maxCells/max(1, w.BreakerRows)))
	width := max(1, span/time.Duration(cols))
	v := &LaneView{
		Width: width, Total: int64(l.n),
		Start: clock.Instant((now.Bin(width) - int64(cols) + 1) * int64(width)),
		Flips: l.latest(w.Flips),
	}
	var chosen []int32
	chosen, v.Matching = l.choose(now, shared, w)
	v.Skipped = min(int64(max(w.BreakerSkip, 0)), v.Matching)
	v.Lanes = make([]Lane, len(chosen))
	rows := make(map[int32]int, len(chosen))
	for row, i := range chosen {
		t := &l.tracks[i]
		v.Lanes[row] = Lane{
			State: t.state, Since: t.since,
			Opened: int64(t.opened), Good: int64(t.good), Bad: int64(t.bad),
			Strip: slices.Repeat([]wire.BreakerState{NoState}, cols),
		}
		v.Lanes[row].Client, v.Lanes[row].Scope, v.Lanes[row].Shared = l.whose(i)
		rows[i] = row
	}
	l.strips(now, v, rows)
	l.look(v, chosen)
	return v
}

// strips fills in the states over time, the latest first.
func (l *lanes) strips(now clock.Instant, v *LaneView, rows map[int32]int) {
	ends := make([]clock.Instant, len(v.Lanes))
	states := make([]wire.BreakerState, len(v.Lanes))
	for row := range v.Lanes {
		ends[row], states[row] = now, v.Lanes[row].State
	}
	known := clock.Instant(0)
	if l.n > maxFlips {
		known = l.flips[l.n%maxFlips].at
	}
	for back := uint64(1); back <= min(l.n, maxFlips); back++ {
		f := &l.flips[(l.n-back)%maxFlips]
		// Events are out of order by no more than bins stay open for.
		if f.at < v.Start.Add(-time.Duration(settleBins)*binWidth) {
			break
		}
		row, ok := rows[f.breaker]
		if !ok {
			continue
		}
		v.paint(row, f.at, ends[row], f.to)
		ends[row], states[row] = f.at, f.from
	}
	for row := range v.Lanes {
		v.paint(row, known, ends[row], states[row])
	}
}

// rarity is how rarely each state is seen, the rarest last.
var rarity = [...]wire.BreakerState{
	NoState, wire.Closed, wire.MetricsOnly, wire.Disabled, wire.Eligible, wire.Open,
	wire.ForcedOpen, wire.HalfOpen,
}

// paint gives a lane a state from one moment to another.
func (v *LaneView) paint(row int, from, to clock.Instant, s wire.BreakerState) {
	strip := v.Lanes[row].Strip
	if to < v.Start {
		return
	}
	first := int(max(from.Sub(v.Start), 0) / v.Width)
	last := min(int(to.Sub(v.Start)/v.Width), len(strip)-1)
	for c := first; c <= last; c++ {
		if slices.Index(rarity[:], s) > slices.Index(rarity[:], strip[c]) {
			strip[c] = s
		}
	}
}

// look gives the lanes what was seen of them, and remembers which they are.
func (l *lanes) look(v *LaneView, chosen []int32) {
	before := l.looked
	l.looked = make([]looked, len(chosen))
	for row, i := range chosen {
		l.looked[row].breaker = i
		for k := range before {
			if before[k].breaker == i && before[k].seen {
				l.looked[row] = before[k]
				v.Lanes[row].Detail, v.Lanes[row].Looked = before[k].detail, true
			}
		}
	}
}

// latest is the latest transitions in at most n groups, the newest first.
func (l *lanes) latest(n int) (groups []Flips) {
	first := 0 // group of the present bin
	for back := uint64(1); back <= min(l.n, maxFlips); back++ {
		f := &l.flips[(l.n-back)%maxFlips]
		if len(groups) > 0 && groups[first].At.Bin(binWidth) != f.at.Bin(binWidth) {
			first = len(groups)
		}
		same := slices.IndexFunc(groups[first:], func(g Flips) bool {
			return g.From == f.from && g.To == f.to && g.Cause == f.cause
		})
		switch {
		case same >= 0:
			g := &groups[first+same]
			g.At = f.at
			g.N++
		case len(groups) == n:
			return groups
		default:
			g := Flips{From: f.from, To: f.to, Cause: f.cause, At: f.at, Last: f.at, N: 1}
			g.Client, g.Scope, g.Shared = l.whose(f.breaker)
			groups = append(groups, g)
		}
	}
	return groups
}

// Look gives every breaker of the last LaneView to see, which answers with what is
// to be seen of it now. One that all share is given as that of client 0.
func (c *Collector) Look(see func(client wire.ClientID, scope uint8) wire.BreakerDetail) {
	l := &c.lanes
	for i := range l.looked {
		at := &l.looked[i]
		client, scope, _ := l.whose(at.breaker)
		at.detail, at.seen = see(client, scope), true
	}
}
