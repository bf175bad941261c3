package budget

import (
	"fmt"
	"math"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/rng"
)

// world is a fleet of clients whose attempts each fail with the same chance.
// Requests come one after the other, evenly: the first to each client in turn,
// the others to any. Replies and retries take no time.
type world struct {
	c        Config
	share    uint64 // failing attempts, in thousandths
	attempts int    // of a request at most; 0 is as many as the budget grants
	clients  int    // each with a budget of its own
	gap      time.Duration
	seed     uint64
}

// result is what came of a run.
type result struct{ requests, attempts, successes int }

// amplification and success are per request.
func (r result) amplification() float64 { return float64(r.attempts) / float64(r.requests) }
func (r result) success() float64       { return float64(r.successes) / float64(r.requests) }

// run sends so many requests.
func (w world) run(requests int) result {
	budgets := make([]Budget, w.clients)
	r := result{requests: requests}
	for i := range requests {
		now := clock.Instant(i) * clock.Instant(w.gap)
		client := uint64(i)
		if i >= w.clients {
			client = rng.Below(rng.At(w.seed, rng.ArrivalGap, client, 0, 0), uint64(w.clients))
		}
		attempts, good := w.request(now, uint64(i), &budgets[client])
		r.attempts += attempts
		if good {
			r.successes++
		}
	}
	return r
}

func (w world) request(now clock.Instant, id uint64, b *Budget) (attempts int, good bool) {
	var h Hold
	defer b.Drop(&h)
	for {
		b.Begin(now, &w.c, &h)
		attempts++
		o := Success
		if rng.Below(rng.At(w.seed, rng.FaultHit, id, uint64(attempts), 0), 1000) < w.share {
			o = Transient
		}
		b.Report(now, &w.c, &h, o)
		if o == Success || attempts == w.attempts || !b.Take(now, &w.c, &h, o) {
			return attempts, o == Success
		}
	}
}

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: %.4f, want %.4f +-%.4f", what, got, want, tolerance)
	}
}

// runs wants an amplification within 1 % and a success share within 0.5 points.
func (w world) runs(t *testing.T, requests int, amplification, success float64) {
	t.Helper()
	r := w.run(requests)
	near(t, w.name()+": amplification", r.amplification(), amplification, amplification/100)
	near(t, w.name()+": success", r.success(), success, 0.005)
}

func (w world) name() string {
	return fmt.Sprintf("%v, %d clients, %d of 1000 fail", w.c.Kind, w.clients, w.share)
}

const gap = 10 * time.Millisecond

// Without a budget, amplification is (1 - p^a)/(1 - p) and success 1 - p^a.
func TestClosedFormsOfNone(t *testing.T) {
	for _, share := range []uint64{0, 100, 200, 500, 750, 1000} {
		p := float64(share) / 1000
		amplification := 0.0
		for i := range 4 {
			amplification += math.Pow(p, float64(i))
		}
		world{share: share, attempts: 4, clients: 100, gap: gap, seed: 1}.runs(
			t, 60_000, amplification, 1-math.Pow(p, 4))
	}
}

// Below what it gets, a bucket that is filled per success with d gives
// d(1-p) / (1 - d(1-p)) retries per request; one that is filled per try gives d.
func TestClosedFormsOfDeposits(t *testing.T) {
	for _, share := range []uint64{300, 500, 750, 1000} {
		p := float64(share) / 1000
		perSuccess := 0.1 * (1 - p) / (1 - 0.1*(1-p))
		w := world{share: share, clients: 1, gap: gap, seed: 2}
		w.c.Kind = DepositPerSuccess
		w.runs(t, 60_000, 1+perSuccess, (1+perSuccess)*(1-p))
		w.c.Kind = DepositPerTry
		w.runs(t, 60_000, 1.1, 1.1*(1-p))
	}
}

// The measured table of Brooker's simulator: clients, seconds between two
// requests of all, thousandths that fail, and requests, attempts and successes
// of both his budgets. His breaker counts for ever; 2 minutes are longer than
// the runs.
var brookersTable = []struct {
	clients  int
	gap      time.Duration
	share    uint64
	adaptive result
	breaker  result
}{
	{100, gap / 10, 10, result{60210, 60807, 60210}, result{60359, 60951, 60351}},
	{100, gap / 10, 50, result{60141, 63367, 60128}, result{59725, 62677, 59604}},
	{100, gap / 10, 75, result{60122, 64743, 59955}, result{60379, 64303, 59432}},
	{100, gap / 10, 100, result{59890, 65547, 59071}, result{60443, 62501, 56175}},
	{100, gap / 10, 200, result{59998, 66345, 53211}, result{60178, 60203, 48142}},
	{100, gap / 10, 500, result{60146, 66585, 32950}, result{60208, 60209, 30217}},
	{100, gap / 10, 1000, result{59828, 66250, 0}, result{60293, 60293, 0}},
	{10, gap, 50, result{10016, 10540, 10015}, result{10098, 10611, 10070}},
	{10, gap, 500, result{10111, 11164, 5521}, result{10303, 10303, 5054}},
	{100, gap, 50, result{9984, 10498, 9982}, result{10119, 10498, 9981}},
	{100, gap, 500, result{10037, 11462, 5689}, result{10008, 10009, 5005}},
	{1000, gap, 50, result{10942, 11515, 10941}, result{10938, 11008, 10419}},
	{1000, gap, 500, result{11047, 16101, 8055}, result{10997, 10998, 5515}},
}

func TestBrookersTable(t *testing.T) {
	for _, tc := range brookersTable {
		w := world{share: tc.share, clients: tc.clients, gap: tc.gap, seed: 3}
		w.c.Kind = DepositPerTry
		w.agrees(t, tc.adaptive)
		w.c.Kind, w.attempts = FailureShare, 4
		w.agrees(t, tc.breaker)
	}
}

// agrees wants what another simulator saw in one run of its own: amplification
// within 1 %, success within 0.5 points or, where two such runs differ by more
// than that themselves, within 3 standard errors of their difference.
func (w world) agrees(t *testing.T, theirs result) {
	t.Helper()
	r := w.run(theirs.requests)
	near(t, w.name()+": amplification", r.amplification(), theirs.amplification(),
		theirs.amplification()/100)
	p := float64(w.share) / 1000
	deviation := math.Sqrt(2*float64(theirs.attempts)*p*(1-p)) / float64(theirs.requests)
	near(t, w.name()+": success", r.success(), theirs.success(), max(0.005, 3*deviation))
}

// drains says whether a bucket of that kind, deep enough, goes down in the long
// run when requests have three attempts.
func drains(kind Kind, share uint64) bool {
	const requests = 100_000
	c := Config{Kind: kind, Tokens: 1 << 40}
	w := world{c: c, share: share, attempts: 3, seed: 4}
	b := Budget{kind: kind, spent: 1 << 39}
	for i := range uint64(requests) {
		w.request(0, i, &b)
	}
	return b.spent > 1<<39
}

// The failure share from which the AWS buckets drain is the root of
// (1 - p) = c p^2 (1 + p), c being the cost of a retry.
func TestAWSDrainThreshold(t *testing.T) {
	for kind, want := range map[Kind]float64{AWSLegacy: 0.3207, AWS2026: 0.2149} {
		holds, drained := uint64(0), uint64(1000)
		for drained-holds > 1 {
			if middle := (holds + drained) / 2; drains(kind, middle) {
				drained = middle
			} else {
				holds = middle
			}
		}
		near(t, fmt.Sprint(kind), float64(drained)/1000, want, 0.01)
	}
}

// Beyond the threshold each retry that fails, p of them, costs the bucket c for
// good, and (1 - p) per request comes in: so r = (1 - p)/(c p) retries per
// request remain, an amplification of 1 + r and a success of (1 - p)(1 + r).
// Below it, 0.3 for a cost of 5, three attempts have the closed forms of none.
func TestAWSSteadyState(t *testing.T) {
	for _, tc := range []struct {
		kind                   Kind
		share                  uint64
		amplification, success float64
	}{
		{AWS2026, 300, 1.1667, 0.8167},
		{AWS2026, 500, 1.0714, 0.5357},
		{AWS2026, 900, 1.0079, 0.1008},
		{AWSLegacy, 300, 1.39, 0.973},
		{AWSLegacy, 500, 1.2, 0.6},
	} {
		w := world{share: tc.share, attempts: 3, clients: 1, gap: gap, seed: 5}
		w.c.Kind = tc.kind
		w.runs(t, 200_000, tc.amplification, tc.success)
	}
}

// Retries vanish above p = ratio/(1 + ratio) = 0.0909, not sharply.
func TestGRPCCutOff(t *testing.T) {
	for share, want := range map[uint64]float64{
		50: 1.052, 80: 1.057, 100: 1.021, 120: 1.003, 150: 1, 200: 1,
	} {
		w := world{c: Config{Kind: GRPC}, share: share, attempts: 4, clients: 1, seed: 6}
		got := w.run(200_000).amplification()
		near(t, w.name(), got, want, 0.01)
		if share >= 150 && got >= 1.002 {
			t.Errorf("%s: %.4f, want below 1.002", w.name(), got)
		}
	}
}

// With all failing and attempts without limit, 20 % of requests and 10 retries
// a second remain.
func TestRatioAmplification(t *testing.T) {
	for perSecond, want := range map[int]float64{100: 1.30, 1000: 1.21} {
		w := world{c: Config{Kind: Ratio}, share: 1000, clients: 1, seed: 7}
		w.gap = time.Second / time.Duration(perSecond)
		near(t, w.name(), w.run(100*perSecond).amplification(), want, want/100)
	}
}

// With ten times the demand that a server can serve, a client that throttles
// itself sends K times the capacity.
func TestSREFixedPoint(t *testing.T) {
	for k, tolerance := range map[int64]float64{2000: 0.05, 1100: 0.03} {
		want := float64(k) / 1000
		got := throttled(Config{Kind: SREThrottle, K: k})
		near(t, fmt.Sprintf("K = %d/1000: load in capacities", k), got, want, want*tolerance)
	}
}

// throttled is the load at a server of 200/s under a demand of 2000/s, in
// capacities, in the four minutes after the first four. A server much smaller
// has less, since a second in which chance sends it too little is lost.
func throttled(c Config) float64 {
	const demand, capacity, minute = 2000, 200, 60 * 2000 // requests
	var b Budget
	var h Hold
	sent, inSecond := 0, 0
	for i := range 8 * minute {
		if i%demand == 0 {
			inSecond = 0
		}
		now := clock.Instant(i) * clock.Instant(time.Second/demand)
		b.Begin(now, &c, &h)
		if b.Admit(now, &c, rng.At(8, rng.FaultHit, uint64(i), 0, 0)) {
			o := Throttled
			if inSecond++; inSecond <= capacity {
				o = Success
			}
			b.Report(now, &c, &h, o)
			if i >= 4*minute {
				sent++
			}
		}
		b.Drop(&h)
	}
	return float64(sent) / float64(4*60*capacity)
}
