package engine_test

import (
	"fmt"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/backoff"
	"herdscope/engine/budget"
	"herdscope/engine/clock"
	"herdscope/engine/enginetest"
	"herdscope/engine/limiter"
	"herdscope/engine/queue"
	"herdscope/engine/wire"

	"pgregory.net/rapid"
)

// hand drives one machine with random inputs and holds it against a Checker.
type hand struct {
	policy  engine.Policy
	machine engine.Machine
	checker *enginetest.Checker
	now     clock.Instant
	next    wire.RequestID
	out     []wire.AttemptID // on the wire
	aborted []wire.AttemptID
	// promised is the parents of nested requests to be submitted, one for each.
	promised []wire.RequestID
	wanted   int // tokens that were asked for and have not been got
	keys     map[wire.RequestID]uint64
	// renewals is the requests that get a token. The end of one ends whatever
	// refresh is under way, also one that was asked for after it.
	renewals map[wire.RequestID]bool
}

func newHand(p engine.Policy, seed uint64) *hand {
	h := &hand{policy: p, keys: map[wire.RequestID]uint64{}, renewals: map[wire.RequestID]bool{}}
	h.machine = engine.New(3, seed, 2, &h.policy)
	h.checker = enginetest.NewChecker(func() engine.Policy { return h.policy })
	return h
}

func (h *hand) step(in engine.Input) {
	for _, e := range h.machine.Step(h.now, in, nil) {
		switch e.Kind {
		case engine.Send:
			h.sent(e.Attempt)
		case engine.Refresh:
			h.wanted++
		case engine.Abort:
			h.drop(e.Attempt.ID)
			h.aborted = append(h.aborted, e.Attempt.ID)
		case engine.Report:
			h.checker.Observe(e.Event)
			if e.Event.Kind == wire.RequestDone && h.renewals[e.Event.ID.Request] {
				h.wanted = 0
			}
		}
	}
}

func (h *hand) sent(a wire.Attempt) {
	h.out = append(h.out, a.ID)
	if a.Key != h.keys[a.ID.Request] {
		panic(fmt.Sprintf("%v goes out with key %d, not %d", a.ID, a.Key, h.keys[a.ID.Request]))
	}
}

func (h *hand) drop(id wire.AttemptID) {
	for i, other := range h.out {
		if other == id {
			h.out = append(h.out[:i:i], h.out[i+1:]...)
			return
		}
	}
}

// tick passes time to the next deadline, if there is one before limit.
func (h *hand) tick(limit clock.Instant) {
	at, ok := h.machine.Deadline()
	if ok {
		h.now = max(h.now, min(at, limit))
	}
	h.step(engine.Input{Kind: engine.Tick})
}

// drawPolicy draws a policy with every feature on or off.
func drawPolicy(t *rapid.T) engine.Policy {
	var p engine.Policy
	p.Retry = engine.Retry{
		Attempts:          rapid.IntRange(1, 5).Draw(t, "attempts"),
		Network:           rapid.Bool().Draw(t, "network"),
		Timeouts:          rapid.Bool().Draw(t, "timeouts"),
		RetryAfter:        rapid.Bool().Draw(t, "retry after"),
		RetryAfterJitter:  rapid.Int64Range(0, 1000).Draw(t, "spread"),
		RetryAfterMax:     time.Duration(rapid.IntRange(0, 4).Draw(t, "most asked")) * time.Second,
		RetryAfterOver:    engine.HintRule(rapid.IntRange(0, 3).Draw(t, "over")),
		RetryAfterClock:   engine.HintClock(rapid.IntRange(0, 1).Draw(t, "clock")),
		Pushback:          rapid.Bool().Draw(t, "pushback"),
		RetryAfterDefault: time.Duration(rapid.IntRange(0, 2).Draw(t, "assumed")) * time.Second,
		Statuses:          engine.StatusSet(rapid.IntRange(0, 2).Draw(t, "statuses")),
		Methods:           engine.MethodSet(rapid.IntRange(0, 2).Draw(t, "methods")),
		Backoff: backoff.Config{
			Curve:      backoff.Curve(rapid.IntRange(0, 3).Draw(t, "curve")),
			Jitter:     backoff.Jitter(rapid.IntRange(0, 3).Draw(t, "jitter")),
			Base:       time.Duration(rapid.IntRange(0, 2000).Draw(t, "base")) * time.Millisecond,
			Cap:        3 * time.Second,
			Multiplier: rapid.Int64Range(1000, 3000).Draw(t, "multiplier"),
		},
	}
	p.Breaker.Failures = rapid.IntRange(0, 3).Draw(t, "failures")
	p.Breaker.OpenFor = time.Duration(rapid.IntRange(1, 4000).Draw(t, "open")) * time.Millisecond
	p.Breaker.Probes = rapid.IntRange(1, 3).Draw(t, "probes")
	p.Breaker.Successes = rapid.IntRange(1, p.Breaker.Probes).Draw(t, "successes")
	p.Auth.Refresh = rapid.Bool().Draw(t, "refresh")
	p.Budget.Kind = budget.Kind(rapid.IntRange(0, budget.NumKinds-1).Draw(t, "budget"))
	p.Limiter = limiter.Config{
		Kind: limiter.Kind(rapid.IntRange(0, limiter.NumKinds-1).Draw(t, "limiter")),
		Min:  1, Limit: rapid.IntRange(1, 3).Draw(t, "initial"), Max: 5,
	}
	p.Transport.Conns = rapid.IntRange(0, 3).Draw(t, "connections")
	p.Queue.Limit = rapid.IntRange(engine.Unlimited, 3).Draw(t, "limit")
	for s := range p.Queue.Scope {
		p.Queue.Scope[s].Limit = max(0, rapid.IntRange(-6, 3).Draw(t, "own limit"))
		if p.Queue.Scope[s].Limit == 0 {
			p.Queue.Scope[s].Limit = rapid.IntRange(engine.Unlimited, 0).Draw(t, "own word")
		}
		p.Queue.Scope[s].Capacity = rapid.IntRange(engine.Unlimited, 3).Draw(t, "own capacity")
	}
	p.Queue.Capacity = rapid.IntRange(0, 4).Draw(t, "capacity")
	p.Queue.Order = queue.Order(rapid.IntRange(0, len(queue.OrderNames())-1).Draw(t, "order"))
	p.Queue.PromoteAfter = time.Duration(rapid.IntRange(0, 3).Draw(t, "promote")) * 700 * time.Millisecond
	p.Queue.Protect = rapid.Bool().Draw(t, "protect")
	p.Queue.ProtectHold = time.Duration(rapid.IntRange(0, 3).Draw(t, "hold")) * time.Second
	p.Queue.Nested = engine.NestedRule(rapid.IntRange(0, 1).Draw(t, "nested"))
	p.Queue.NestedLimit = rapid.IntRange(0, 2).Draw(t, "nested limit")
	p.Dedup = engine.Dedup{
		Window:  time.Duration(rapid.IntRange(0, 3).Draw(t, "dedup")) * time.Second,
		Methods: engine.DedupMethods(rapid.IntRange(0, 1).Draw(t, "sharing")),
		Cancel:  engine.DedupCancel(rapid.IntRange(0, 1).Draw(t, "cancel rule")),
	}
	for c := range p.Queue.Class {
		p.Queue.Class[c] = engine.ClassQueue{
			Most:         rapid.IntRange(0, 2).Draw(t, "most"),
			Deadline:     time.Duration(rapid.IntRange(0, 5).Draw(t, "deadline")) * time.Second,
			StarvedAfter: time.Duration(rapid.IntRange(0, 2).Draw(t, "starved")) * time.Second,
		}
	}
	return p
}

// TestMachineKeepsTheIdentities does anything at all to a machine, policy
// changes included, and holds every step against the Checker; in the end every
// request must come to an end.
func TestMachineKeepsTheIdentities(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := newHand(drawPolicy(t), rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(1, 120).Draw(t, "steps") {
			h.now = h.now.Add(time.Duration(rapid.IntRange(0, 700).Draw(t, "pass")) * time.Millisecond)
			h.anything(t)
			if err := h.checker.Finish(h.machine.Counts()); err != nil {
				t.Fatal(err)
			}
		}
		h.comeToAnEnd(t)
	})
}

func (h *hand) anything(t *rapid.T) {
	switch rapid.IntRange(0, 12).Draw(t, "verb") {
	case 0, 1, 2, 3:
		h.submit(t)
	case 4, 5, 6:
		if len(h.out) > 0 {
			h.answer(t, h.out[rapid.IntRange(0, len(h.out)-1).Draw(t, "which")])
		}
	case 7:
		h.tick(clock.Never)
	case 8:
		id := wire.RequestID(rapid.IntRange(0, int(h.next)+1).Draw(t, "cancel"))
		h.step(engine.Input{Kind: engine.Cancel, Request: id})
	case 9:
		h.late(t)
	case 10:
		h.cancelGroup(t)
	case 11:
		h.refresh(t)
	case 12:
		h.step(engine.Input{
			Kind:    engine.SetClass,
			Request: wire.RequestID(rapid.IntRange(0, int(h.next)+1).Draw(t, "set")),
			Class:   wire.Class(rapid.IntRange(0, wire.NumClasses-1).Draw(t, "class")),
		})
	}
}

// refresh does what a Refresh asked for, in one way or the other, or ends a
// refresh that nobody has asked for.
func (h *hand) refresh(t *rapid.T) {
	if h.wanted > 1 {
		t.Fatalf("%d refreshes at once", h.wanted)
	}
	if h.wanted == 1 && rapid.Bool().Draw(t, "as a request") {
		h.wanted = 0
		h.next++
		h.renewals[h.next] = true
		h.step(engine.Input{
			Kind: engine.Submit, Request: h.next, Since: h.now, Refresh: true,
			Scope: uint8(rapid.IntRange(0, 1).Draw(t, "scope")),
		})
		return
	}
	h.wanted = 0
	h.step(engine.Input{Kind: engine.Refreshed, Good: rapid.Bool().Draw(t, "good")})
}

func (h *hand) submit(t *rapid.T) {
	h.next++
	h.keys[h.next] = rapid.Uint64Range(0, 3).Draw(t, "key")
	children := max(0, rapid.IntRange(-3, 3).Draw(t, "children"))
	parent := h.parent(t)
	for range children {
		h.promised = append(h.promised, h.next)
	}
	h.step(engine.Input{
		Kind: engine.Submit, Request: h.next, Since: h.now, Key: h.keys[h.next],
		Same:   rapid.Uint64Range(0, 3).Draw(t, "same"),
		Parent: parent, Children: uint8(children),
		Class:   wire.Class(rapid.IntRange(0, wire.NumClasses-1).Draw(t, "class")),
		Method:  wire.Method(rapid.IntRange(0, int(wire.Patch)).Draw(t, "method")),
		Scope:   uint8(rapid.IntRange(0, 1).Draw(t, "scope")),
		Timeout: time.Duration(rapid.IntRange(0, 3).Draw(t, "timeout")) * time.Second,
		Group:   h.group(t),
	})
}

// parent draws a request that one may be nested in: sometimes one that has
// promised so, and sometimes any at all.
func (h *hand) parent(t *rapid.T) wire.RequestID {
	switch n := rapid.IntRange(0, 9).Draw(t, "nest"); {
	case n == 0:
		return wire.RequestID(rapid.IntRange(0, int(h.next)+1).Draw(t, "parent"))
	case n < 6 && len(h.promised) > 0:
		return h.promise(rapid.IntRange(0, len(h.promised)-1).Draw(t, "promise"))
	}
	return 0
}

// promise takes out one of the parents that still wait to be given a child.
func (h *hand) promise(i int) wire.RequestID {
	id := h.promised[i]
	h.promised = append(h.promised[:i:i], h.promised[i+1:]...)
	return id
}

// group draws one of the groups that requests may be in, which move on, so that
// more are cancelled in a run than a machine remembers.
func (h *hand) group(t *rapid.T) uint32 {
	g := rapid.IntRange(0, 3).Draw(t, "group")
	if g == 0 {
		return 0
	}
	return uint32(h.next)/4 + uint32(g)
}

func (h *hand) cancelGroup(t *rapid.T) {
	g := h.group(t)
	h.step(engine.Input{Kind: engine.CancelGroup, Group: g})
	h.checker.GroupCancelled(3, g)
}

func (h *hand) answer(t *rapid.T, id wire.AttemptID) {
	in := engine.Input{Kind: engine.Answered, ID: id}
	in.Reply.Kind = wire.ReplyKind(rapid.IntRange(0, 2).Draw(t, "reply"))
	if in.Reply.Kind == wire.ReplyResponse {
		in.Reply.Status = rapid.SampledFrom([]uint16{200, 204, 302, 401, 404, 408, 429, 500, 503}).Draw(t, "status")
		if rapid.Bool().Draw(t, "hint") {
			in.Reply.Hint.Form = rapid.SampledFrom([]wire.HintForm{
				wire.HintSeconds, wire.HintIMFDate, wire.HintPushback, wire.HintPushbackStop,
			}).Draw(t, "form")
			in.NotBefore = h.now.Add(time.Duration(rapid.IntRange(-2, 9).Draw(t, "after")) * time.Second)
			in.Lead = time.Duration(rapid.IntRange(-3, 3).Draw(t, "lead")) * time.Second
		}
	}
	h.drop(id)
	h.step(in)
}

// late is either a reply to an attempt that was aborted or a change of policy.
func (h *hand) late(t *rapid.T) {
	if len(h.aborted) > 0 && rapid.Bool().Draw(t, "late") {
		h.answer(t, h.aborted[0])
		return
	}
	// The Checker reckons with one limit of attempts, one length of a lease, and
	// one law of the limit.
	before := h.policy
	h.policy = drawPolicy(t)
	h.policy.Retry.Attempts = before.Retry.Attempts
	h.policy.Breaker.OpenFor = before.Breaker.OpenFor
	h.policy.Limiter = before.Limiter
	h.step(engine.Input{Kind: engine.Changed})
}

// resume ends every pause.
func (h *hand) resume() {
	q := &h.policy.Queue
	q.Limit = max(q.Limit, 0)
	for s := range q.Scope {
		q.Scope[s].Limit = max(q.Scope[s].Limit, 0)
	}
	h.step(engine.Input{Kind: engine.Changed})
}

// comeToAnEnd answers everything, and expects that nothing is left.
func (h *hand) comeToAnEnd(t rapid.TB) {
	h.resume()
	for range 2000 {
		if h.machine.Counts() == (engine.Counts{}) {
			return
		}
		if h.wanted > 0 {
			h.wanted = 0
			h.step(engine.Input{Kind: engine.Refreshed, Good: true})
		}
		if len(h.promised) > 0 {
			h.next++
			h.step(engine.Input{
				Kind: engine.Submit, Request: h.next, Since: h.now, Parent: h.promise(0),
			})
			continue
		}
		if len(h.out) > 0 {
			id := h.out[0]
			h.drop(id)
			h.step(engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: 200}})
			continue
		}
		if _, ok := h.machine.Deadline(); !ok {
			break
		}
		h.tick(clock.Never)
	}
	t.Fatalf("requests never end: %+v", h.machine.Counts())
}

// busyPolicy has every feature that costs something in use.
func busyPolicy() engine.Policy {
	p := plain()
	p.Retry.Backoff.Jitter = backoff.Full
	p.Breaker.Failures = 5
	p.Queue.Limit = 4
	for c := range p.Queue.Class {
		p.Queue.Class[c] = engine.ClassQueue{Deadline: time.Minute, StarvedAfter: time.Second}
	}
	return p
}

// load is a closed loop of requests through one machine, a quarter of whose
// attempts fail.
type load struct {
	machine engine.Machine
	effects []engine.Effect
	replies clock.Queue[wire.AttemptID]
	next    wire.RequestID
	n       uint64
}

func newLoad(p *engine.Policy, waiting int) *load {
	l := &load{machine: engine.New(1, 1, 1, p)}
	for range waiting {
		l.submit(0)
	}
	return l
}

func (l *load) submit(now clock.Instant) {
	l.next++
	class := wire.Class(l.next % wire.NumClasses)
	l.do(now, engine.Input{Kind: engine.Submit, Request: l.next, Since: now, Class: class, Timeout: time.Second})
}

// step does the next thing that is due.
func (l *load) step() {
	at, _ := l.replies.Peek()
	if due, ok := l.machine.Deadline(); ok && due < at {
		l.do(due, engine.Input{Kind: engine.Tick})
		return
	}
	at, id, ok := l.replies.Pop()
	if !ok {
		l.submit(at)
		return
	}
	l.n++
	status := uint16(200)
	if l.n%4 == 0 {
		status = 503
	}
	l.do(at, engine.Input{Kind: engine.Answered, ID: id, Reply: wire.Reply{Status: status}})
}

func (l *load) do(now clock.Instant, in engine.Input) {
	l.effects = l.machine.Step(now, in, l.effects[:0])
	done := 0
	for _, e := range l.effects {
		switch {
		case e.Kind == engine.Send:
			l.replies.Push(now.Add(10*time.Millisecond), e.Attempt.ID)
		case e.Kind == engine.Report && e.Event.Kind == wire.RequestDone:
			done++
		}
	}
	for range done {
		l.submit(now)
	}
}

func TestStepDoesNotAllocate(t *testing.T) {
	p := busyPolicy()
	l := newLoad(&p, 16)
	for range 100_000 {
		l.step()
	}
	allocs := testing.AllocsPerRun(5, func() {
		for range 10_000 {
			l.step()
		}
	})
	if allocs != 0 {
		t.Errorf("%v allocations in 10,000 steps", allocs)
	}
}

func BenchmarkStep(b *testing.B) {
	for _, bm := range []struct {
		name    string
		waiting int
	}{{"busy", 4}, {"queue of 1000", 1000}} {
		b.Run(bm.name, func(b *testing.B) {
			p := busyPolicy()
			p.Queue.Class = [wire.NumClasses]engine.ClassQueue{}
			l := newLoad(&p, bm.waiting)
			b.ReportAllocs()
			for b.Loop() {
				l.step()
			}
		})
	}
}
