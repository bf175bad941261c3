package fault

import (
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/clock"
	"herdscope/engine/retryafter"
	"herdscope/engine/wire"
)

// checker watches a server from outside: every arrival is answered exactly once
// or has left, and ends exactly once, whatever happens to the server.
type checker struct {
	t        *rapid.T
	s        *Server
	answered map[wire.AttemptID]bool
	ended    map[wire.AttemptID]bool
	left     map[wire.AttemptID]bool
	on       []bool
	last     clock.Instant
	busy     []int
}

func newChecker(t *rapid.T, s *Server) *checker {
	return &checker{
		t: t, s: s,
		answered: map[wire.AttemptID]bool{},
		ended:    map[wire.AttemptID]bool{},
		left:     map[wire.AttemptID]bool{},
		on:       make([]bool, len(s.config.Faults)),
		last:     longPast,
		busy:     make([]int, len(s.pools)),
	}
}

func (c *checker) step(now clock.Instant, in wire.ServerInput, out []wire.ServerEffect) {
	if in.Kind == wire.ServerLeave && !c.ended[in.Attempt.ID] {
		c.left[in.Attempt.ID] = true
	}
	for i := range out {
		c.effect(&out[i])
	}
	if at, ok := c.s.Deadline(); ok && at <= now {
		c.t.Fatalf("at %v: the deadline %v has passed", now, at)
	}
	for i := range c.s.pools {
		c.pool(&c.s.pools[i], i)
	}
	for i := range c.s.limit.callers.table {
		if b := c.s.limit.callers.table[i].meter.bucket; b.level < 0 || b.level > b.capacity {
			c.t.Fatalf("level %d of %d", b.level, b.capacity)
		}
	}
	here := 0
	for slot := c.s.jobs.first; slot != none; slot = c.s.jobs.table[slot].next {
		here++
	}
	if c.s.present.total != here {
		c.t.Fatalf("%d count as present, and %d are", c.s.present.total, here)
	}
}

// pool checks that a service has no more in service than it has workers, and
// that none of them rests while somebody waits.
func (c *checker) pool(p *pool, i int) {
	if p.Workers > 0 && p.serving > max(p.Workers, c.busy[i]) {
		c.t.Fatalf("%d workers: busy rose from %d to %d", p.Workers, c.busy[i], p.serving)
	}
	c.busy[i] = p.serving
	inside, outside := p.waiting()
	if p.workerFree() && inside+outside > 0 {
		c.t.Fatalf("%d of %d workers are busy, and %d wait", p.serving, p.Workers, inside+outside)
	}
	if outside > 0 && p.room() {
		c.t.Fatalf("%d wait outside a backlog of %d with %d in it", outside, p.Backlog, p.backlog.Len())
	}
}

func (c *checker) effect(e *wire.ServerEffect) {
	if e.Kind == wire.ServerReply {
		if c.answered[e.ID] || c.left[e.ID] {
			c.t.Fatalf("%v: answered %v, left %v, and answered again",
				e.ID, c.answered[e.ID], c.left[e.ID])
		}
		c.answered[e.ID] = true
		c.ended[e.ID] = c.ended[e.ID] || e.Reply.Kind == wire.ReplyRefused
		return
	}
	v := &e.Event
	if e.Kind != wire.ServerEvent {
		return
	}
	if v.At < c.last {
		c.t.Fatalf("event at %v after one at %v", v.At, c.last)
	}
	c.last = v.At
	switch v.Kind {
	case wire.ServerDone, wire.ServerRejected, wire.ServerReset, wire.ServerCancelled,
		wire.ServerReplayed:
		if c.ended[v.ID] || c.answered[v.ID] == c.left[v.ID] {
			c.t.Fatalf("%v %v: ended before %v, answered %v, left %v",
				v.Kind, v.ID, c.ended[v.ID], c.answered[v.ID], c.left[v.ID])
		}
		c.ended[v.ID] = true
	case wire.ServerSwallowed:
		if c.ended[v.ID] || c.answered[v.ID] {
			c.t.Fatalf("%v was swallowed after its end", v.ID)
		}
		c.answered[v.ID], c.ended[v.ID] = true, true
	case wire.FaultBegan, wire.FaultEnded:
		if c.on[v.Fault] == (v.Kind == wire.FaultBegan) {
			c.t.Fatalf("%v of fault %d, which is so already", v.Kind, v.Fault)
		}
		c.on[v.Fault] = v.Kind == wire.FaultBegan
	}
}

// finish lets all that is under way end, and checks that nothing is lost.
func (c *checker) finish(arrived []wire.Attempt) {
	now := max(c.s.Now(), 0)
	for i := range c.s.config.Faults {
		off := wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(i), Do: wire.FaultOff}
		c.step(now, off, c.s.Step(now, off, nil))
	}
	for c.s.Busy()+c.s.Waiting() > 0 {
		now = now.Add(time.Second)
		c.step(now, wire.ServerInput{}, c.s.Step(now, wire.ServerInput{}, nil))
	}
	for _, a := range arrived {
		if !c.ended[a.ID] {
			c.t.Fatalf("%v never ended", a.ID)
		}
	}
	if c.s.Waiting() != 0 || c.s.jobs.first != none || c.s.due.Len() != 0 || c.s.patience.Len() != 0 {
		c.t.Fatalf("idle with %d waiting", c.s.Waiting())
	}
}

type timedInput struct {
	at clock.Instant
	in wire.ServerInput
}

func drawConfig(t *rapid.T) Config {
	milliseconds := func(name string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, name)) * ms
	}
	c := Config{
		Workers:     rapid.IntRange(0, 4).Draw(t, "workers"),
		Backlog:     rapid.IntRange(NoBacklog, 4).Draw(t, "backlog"),
		WhenFull:    WhenFull(rapid.IntRange(0, 2).Draw(t, "when full")),
		Order:       Order(rapid.IntRange(0, 4).Draw(t, "order")),
		CodelTarget: milliseconds("target", 1, 50),
		Service: Service{
			Shape: Shape(rapid.IntRange(0, 5).Draw(t, "shape")),
			Mean:  milliseconds("mean", 0, 200),
			Sigma: 1000, Spread: 500, Quantiles: []time.Duration{0, 20 * ms, 20 * ms, 300 * ms},
			PerInFlight: milliseconds("per in flight", 0, 2),
		},
		RejectionCost: rapid.Int64Range(0, 500).Draw(t, "rejection cost"),
		Abandoned:     Abandoned(rapid.IntRange(0, 1).Draw(t, "abandoned")),
		ColdStart:     ColdStart{Time: milliseconds("cold start", 0, 500)},
		Limit: RateLimit{
			Rate:  rapid.Int64Range(0, 20_000).Draw(t, "rate"),
			Burst: rapid.IntRange(0, 3).Draw(t, "burst"),
			Form:  wire.HintForm(rapid.IntRange(0, wire.NumHintForms-1).Draw(t, "form")),

			Law:        LimitLaw(rapid.IntRange(0, 2).Draw(t, "law")),
			Window:     milliseconds("window", 1, 500),
			Per:        LimitPer(rapid.IntRange(0, 2).Draw(t, "per")),
			Concurrent: rapid.IntRange(0, 6).Draw(t, "concurrent"),
			Answer:     LimitAnswer(rapid.IntRange(0, 1).Draw(t, "answer")),
			Jitter:     rapid.Int64Range(0, 2000).Draw(t, "jitter"),
			Fields:     rapid.Bool().Draw(t, "fields"),
		},
		ClockSkew: milliseconds("skew", -2000, 2000),
		Effects: Effects{
			Idempotency: rapid.Bool().Draw(t, "idempotency"), TTL: milliseconds("ttl", 1, 500),
		},
	}
	if rapid.Bool().Draw(t, "second service") {
		c.Services = []Backend{{Name: "b", Routes: []uint8{1}, Capacity: Capacity{
			Workers: 1, Backlog: 1, WhenFull: c.WhenFull, Order: c.Order, Service: c.Service,
		}}}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "faults") {
		f := Fault{
			Name:   string(rune('a' + i)),
			Kind:   Kind(rapid.IntRange(0, NumKinds-1).Draw(t, "kind")),
			Start:  milliseconds("start", 0, 500),
			Length: milliseconds("length", 1, 300),
			Manual: rapid.Bool().Draw(t, "manual"),
			Status: 503, Share: Always / 2, Added: 50 * ms,
			Limit: RateLimit{Rate: 5000, Burst: 1, Form: wire.HintSeconds},
			Left:  500, Over: 20 * ms, After: 30 * ms, Race: 20 * ms,
			Point: Point(rapid.IntRange(0, len(pointNames)-1).Draw(t, "point")),
			How:   Manner(rapid.IntRange(0, len(mannerNames)-1).Draw(t, "how")),
			Wave:  Wave(rapid.IntRange(0, len(waveNames)-1).Draw(t, "wave")), Period: 70 * ms,
			Unit: Unit(rapid.IntRange(0, 1).Draw(t, "unit")),
			Count: Count{
				Nth: rapid.IntRange(0, 2).Draw(t, "nth"), PerClient: rapid.Bool().Draw(t, "per client"),
			},
		}
		if rapid.Bool().Draw(t, "repeats") {
			f.Every = f.Length + milliseconds("gap", 1, 300)
		}
		c.Faults = append(c.Faults, f)
	}
	return c
}

func drawInputs(t *rapid.T, c Config) (inputs []timedInput, arrived []wire.Attempt) {
	now := clock.Instant(0)
	for range rapid.IntRange(0, 60).Draw(t, "inputs") {
		now = now.Add(time.Duration(rapid.IntRange(0, 80).Draw(t, "gap")) * ms)
		in := wire.ServerInput{Kind: wire.ServerTick}
		switch rapid.IntRange(0, 9).Draw(t, "input") {
		case 0:
			if len(c.Faults) > 0 {
				in.Kind = wire.ServerFault
				in.Fault = uint8(rapid.IntRange(0, len(c.Faults)-1).Draw(t, "fault"))
				in.Do = wire.FaultDo(rapid.IntRange(0, 3).Draw(t, "do"))
			}
		case 1:
			in.Kind = wire.ServerSet
			in.Knob = uint16(rapid.IntRange(0, len(Fields)-1).Draw(t, "knob"))
			least, most := valueRange(&Fields[in.Knob].Spec)
			in.Value = rapid.Int64Range(least, min(most, least+4)).Draw(t, "value")
		case 2, 3:
			if len(arrived) > 0 {
				in.Kind = wire.ServerLeave
				in.Attempt = rapid.SampledFrom(arrived).Draw(t, "leaver")
			}
		default:
			in.Kind = wire.ServerArrive
			in.Attempt = post(len(arrived)%7, 1, len(arrived)+1)
			in.Attempt.Warm = now == 0
			in.Attempt.Route = uint8(len(arrived) % 2)
			in.Attempt.Class = wire.Class(len(arrived) % wire.NumClasses)
			in.Attempt.Key = rapid.Uint64Range(0, 3).Draw(t, "key")
			arrived = append(arrived, in.Attempt)
		}
		inputs = append(inputs, timedInput{now, in})
	}
	return inputs, arrived
}

func TestEveryArrivalIsAnsweredOnceOrHasLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := drawConfig(t)
		server, err := New(config, rapid.Uint64().Draw(t, "seed"), 0)
		if err != nil {
			t.Fatal(err)
		}
		inputs, arrived := drawInputs(t, config)
		c := newChecker(t, server)
		for _, i := range inputs {
			c.step(i.at, wire.ServerInput{}, server.Step(i.at, wire.ServerInput{}, nil))
			c.step(i.at, i.in, server.Step(i.at, i.in, nil))
		}
		c.finish(arrived)
	})
}

// A driver may tick late or early, or often: what happens, and when, stays the
// same.
func TestTicksChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		config := drawConfig(t)
		inputs, _ := drawInputs(t, config)
		ticked, late := mustNewRapid(t, config), mustNewRapid(t, config)
		var want, got []wire.ServerEffect
		for _, i := range inputs {
			for at, ok := ticked.Deadline(); ok && at <= i.at; at, ok = ticked.Deadline() {
				want = ticked.Step(at-1, wire.ServerInput{}, want)
				want = ticked.Step(at, wire.ServerInput{}, want)
			}
			want = ticked.Step(i.at, i.in, want)
			got = late.Step(i.at, i.in, got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("effects with ticks (-) and without (+):\n%s", diff)
		}
	})
}

func mustNewRapid(t *rapid.T, c Config) *Server {
	server, err := New(c, 7, 0)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// An outage changes no draw of the attempts that it does not touch.
func TestDrawsAreThoseOfTheAttempt(t *testing.T) {
	config := Config{Service: Service{Shape: ExponentialShape, Mean: s}}
	alone, crowd := mustNew(t, config), mustNew(t, config)
	for client := range 50 {
		crowd.Step(0, arrival(get(client+10, 1, 1)), nil)
	}
	alone.Step(0, arrival(get(3, 1, 1)), nil)
	crowd.Step(0, arrival(get(3, 1, 1)), nil)
	want, _ := alone.due.At(0)
	if got, _ := crowd.due.At(50); got != want {
		t.Errorf("served until %v in a crowd, %v alone", got, want)
	}
	other, err := New(config, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	other.Step(0, arrival(get(3, 1, 1)), nil)
	if got, _ := other.due.At(0); got == want {
		t.Errorf("another seed gives the same service time %v", got)
	}
}

func TestBucketIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := RateLimit{
			Rate:  rapid.Int64Range(1, MaxRate).Draw(t, "rate"),
			Burst: rapid.IntRange(1, MaxWorkers).Draw(t, "burst"),
		}
		b := fullBucket(limit, 0)
		b.level = rapid.Int64Range(0, b.capacity).Draw(t, "level")
		twin, capacity := big.NewInt(b.level), big.NewInt(b.capacity)
		now := clock.Instant(0)
		for range rapid.IntRange(1, 20).Draw(t, "steps") {
			now = now.Add(drawGap(t, &b))
			elapsed := big.NewInt(int64(now.Sub(b.at)))
			twin.Add(twin, elapsed.Mul(elapsed, big.NewInt(limit.Rate)))
			if twin.Cmp(capacity) > 0 {
				twin.Set(capacity)
			}
			wait, ok := b.take(now)
			if ok {
				twin.Sub(twin, big.NewInt(token))
			}
			if b.level < 0 || twin.Cmp(big.NewInt(b.level)) != 0 {
				t.Fatalf("level %d, want %v", b.level, twin)
			}
			if !ok {
				early, due := b, b
				if _, ok := early.take(now.Add(wait - 1)); ok {
					t.Fatalf("a token is there before the wait of %v is over", wait)
				}
				if _, ok := due.take(now.Add(wait)); !ok {
					t.Fatalf("no token after the wait of %v", wait)
				}
			}
		}
	})
}

// drawGap is any time, or one about as long as the bucket takes to be full.
func drawGap(t *rapid.T, b *bucket) time.Duration {
	if rapid.Bool().Draw(t, "about full") {
		full := ceilDiv(b.capacity-b.level, b.rate)
		return time.Duration(max(0, full+rapid.Int64Range(-2, 2).Draw(t, "off")))
	}
	gap := rapid.Int64Range(0, int64(1000*time.Hour)).Draw(t, "gap")
	return time.Duration(gap >> rapid.IntRange(0, 50).Draw(t, "shift"))
}

// Whoever comes back when Retry-After allows finds a token, if nobody else has
// taken it.
func TestRetryAfterIsNeverBeforeTheToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		epoch := rapid.Int64Range(0, 1<<60).Draw(t, "epoch")
		form := wire.HintForm(rapid.IntRange(1, 4).Draw(t, "form"))
		server, err := New(Config{Limit: RateLimit{
			Rate:  rapid.Int64Range(1, 100_000).Draw(t, "rate"),
			Burst: rapid.IntRange(1, 5).Draw(t, "burst"),
			Form:  form,
		}}, 1, epoch)
		if err != nil {
			t.Fatal(err)
		}
		now := clock.Instant(0)
		for try := 1; try < 40; try++ {
			now = now.Add(time.Duration(rapid.IntRange(0, int(s)).Draw(t, "gap")))
			for _, e := range server.Step(now, arrival(get(1, try, 1)), nil) {
				if e.Kind != wire.ServerReply || e.Reply.Status != 429 {
					continue
				}
				if e.Reply.Hint.Form != form {
					t.Fatalf("the hint's form is %v, want %v", e.Reply.Hint.Form, form)
				}
				now = retryafter.Resolve(e.Reply.Hint, now, epoch)
				out := server.Step(now, arrival(get(1, try, 2)), nil)
				if !servedOnTime(out) {
					t.Fatalf("came back at %v, as %v allows, to %+v", now, e.Reply.Hint, out)
				}
			}
		}
	})
}

// servedOnTime says whether an attempt came back at the earliest moment that
// its Retry-After allowed, and was served.
func servedOnTime(out []wire.ServerEffect) bool {
	returned, served := false, false
	for _, e := range out {
		returned = returned || e.Event.Kind == wire.ServerReturned && e.Event.Delay == 0
		served = served || e.Kind == wire.ServerReply && e.Reply.Status == 200
	}
	return returned && served
}

func TestMemoryForgetsTheOldest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := memory[clock.Instant]{size: 8}
		twin := map[uint64]clock.Instant{}
		var order []uint64 // as put
		for range rapid.IntRange(0, 100).Draw(t, "steps") {
			key := rapid.Uint64Range(1, 20).Draw(t, "key")
			at := clock.Instant(rapid.IntRange(0, 1000).Draw(t, "at"))
			_, known := twin[key]
			if rapid.Bool().Draw(t, "take") {
				got, ok := m.take(key)
				if ok != known || ok && got != twin[key] {
					t.Fatalf("take(%d) = %v, %v, want %v, %v", key, got, ok, twin[key], known)
				}
				delete(twin, key)
				continue
			}
			m.put(key, at)
			twin[key] = at
			if !known {
				order = append(order, key)
			}
			if old := len(order) - 1 - m.size; old >= 0 && !slices.Contains(order[old+1:], order[old]) {
				delete(twin, order[old])
			}
		}
		for key := uint64(1); key <= 20; key++ {
			if _, known := twin[key]; m.has(key) != known {
				t.Fatalf("has(%d) = %v, want %v", key, !known, known)
			}
		}
	})
}
