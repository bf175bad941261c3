package budget

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
	"unsafe"

	"herdscope/engine/clock"
)

// script walks requests through a budget at a time that the test moves.
type script struct {
	t   *testing.T
	b   Budget
	c   Config
	now clock.Instant
}

func newScript(t *testing.T, c Config) *script { return &script{t: t, c: c} }

// begin starts a request.
func (s *script) begin() *Hold {
	h := new(Hold)
	s.b.Begin(s.now, &s.c, h)
	return h
}

// fail reports the outcome of an attempt and asks for a retry, which begins at
// once if it is granted.
func (s *script) fail(h *Hold, o Outcome) bool {
	s.b.Report(s.now, &s.c, h, o)
	granted := s.b.Take(s.now, &s.c, h, o)
	s.b.Begin(s.now, &s.c, h)
	if !granted {
		s.b.Drop(h)
	}
	return granted
}

func (s *script) succeed(h *Hold) {
	s.b.Report(s.now, &s.c, h, Success)
	s.b.Drop(h)
}

func (s *script) left() int64 {
	left, _ := s.b.Tokens(s.now, &s.c)
	return left
}

func (s *script) want(left int64) {
	s.t.Helper()
	if got := s.left(); got != left {
		s.t.Fatalf("%d thousandths left, want %d", got, left)
	}
}

// outcomes are the letters of a story.
var outcomes = map[rune]Outcome{
	'5': Transient, 't': Throttled, 'o': Timeout, '4': ClientError, 'n': Neutral,
}

// tell plays requests, each a word of attempts, and writes down the tokens left
// after each attempt: "." is a success, "5" a transient failure, "t" one by
// throttling, "o" a timeout, "4" and "n" what a client does not retry. A refused
// retry is written as "stop".
func tell(t *testing.T, c Config, story string) string {
	s := newScript(t, c)
	var told []string
	for _, word := range strings.Fields(story) {
		told = append(told, s.tellRequest(word))
	}
	return strings.Join(told, " | ")
}

func (s *script) tellRequest(word string) string {
	h := s.begin()
	var told []string
	for _, letter := range word {
		switch {
		case letter == '.':
			s.succeed(h)
		case letter == '4' || letter == 'n':
			s.b.Report(s.now, &s.c, h, outcomes[letter])
			s.b.Drop(h)
		case !s.fail(h, outcomes[letter]):
			return strings.Join(append(told, fmt.Sprint("stop ", s.left()/1000)), " ")
		}
		told = append(told, fmt.Sprint(s.left()/1000))
	}
	s.b.Drop(h)
	return strings.Join(told, " ")
}

// The published vectors of the AWS SDKs' retry quota, of both generations. The
// largest number of attempts is the caller's: the last failure of a request
// that has no attempt left asks for nothing, and is not in the story.
func TestAWSGoldenVectors(t *testing.T) {
	for _, tc := range []struct {
		kind         Kind
		tokens       int64
		story, quota string
	}{
		{AWS2026, 0, "55.", "486 472 486"},
		{AWS2026, 0, "55", "486 472"}, // 502 three times: stops at 472
		{AWS2026, 14_000, "55", "0 stop 0"},
		{AWS2026, 20_000, "55", "6 stop 6"},
		{AWS2026, 0, "5555", "486 472 458 444"},
		{AWS2026, 30_000, "55. 5.", "16 2 16 | 2 16"},
		{AWS2026, 0, "t.", "495 500"},
		{AWS2026, 0, "o.", "486 500"},
		{AWS2026, 0, "55 .", "486 472 | 473"},
		{AWSLegacy, 0, "55.", "495 490 495"},
		{AWSLegacy, 0, "to.", "495 485 495"},
		{AWSLegacy, 0, ". . o. .", "500 | 500 | 490 500 | 500"},
		{AWSLegacy, 0, "55 . . 5 .", "495 490 | 491 | 492 | 487 | 488"},
		{AWSLegacy, 12_000, "oo", "2 stop 2"},
		{AWSLegacy, 0, "5n 54 n 4 .", "495 495 | 490 490 | 490 | 490 | 491"},
	} {
		c := Config{Kind: tc.kind, Tokens: tc.tokens}
		if got := tell(t, c, tc.story); got != tc.quota {
			t.Errorf("%v with %d, %q: %s, want %s", tc.kind, tc.tokens, tc.story, got, tc.quota)
		}
	}
}

func TestDepositRules(t *testing.T) {
	try := newScript(t, Config{Kind: DepositPerTry})
	success := newScript(t, Config{Kind: DepositPerSuccess})
	for _, s := range []*script{try, success} {
		for range 5 {
			if !s.fail(s.begin(), Transient) {
				t.Fatalf("%v: refused with %d left", s.c.Kind, s.left())
			}
		}
	}
	try.want(400) // the first of five deposits found the bucket full
	success.want(0)
	for range 6 {
		if try.fail(try.begin(), Transient) != (try.left() == 0) {
			t.Fatal("granted below the cost of a retry")
		}
	}
	try.want(0)
	for range 10 {
		success.fail(success.begin(), Transient)
		success.want(0)
	}
	h := success.begin()
	success.succeed(h)
	success.want(100)
}

func TestGRPCNeedsMoreThanHalf(t *testing.T) {
	s := newScript(t, Config{Kind: GRPC})
	for want := int64(9000); want > 5000; want -= 1000 {
		if !s.fail(s.begin(), Throttled) {
			t.Fatalf("refused at %d", s.left())
		}
		s.want(want)
	}
	if s.fail(s.begin(), Transient) {
		t.Fatal("granted at half")
	}
	s.want(5000)
	s.succeed(s.begin())
	s.want(5100)
	s.b.Report(s.now, &s.c, s.begin(), ClientError)
	s.b.Report(s.now, &s.c, s.begin(), Neutral)
	s.want(5100)
	for range 100 {
		s.fail(s.begin(), Timeout)
	}
	s.want(0)
}

func TestRatioCountsTenSeconds(t *testing.T) {
	s := newScript(t, Config{Kind: Ratio, Floor: 1}) // as good as no reserve
	var held []*Hold
	for range 10 {
		held = append(held, s.begin())
	}
	s.want(2010)
	for i, want := range []bool{true, true, false} {
		if got := s.fail(held[i], Transient); got != want {
			t.Fatalf("retry %d: %v", i+1, got)
		}
	}
	s.now = clock.Instant(9999 * time.Millisecond)
	s.want(10) // 2 of 2.01 are used
	s.begin()
	s.want(210)
	s.now = clock.Instant(10 * time.Second)
	s.want(210) // only the last request is in the window
	s.begin()
	s.now = 0 // a clock that steps back loses nothing
	s.begin()
	s.want(610)
}

func TestRatioReserveComesBack(t *testing.T) {
	s := newScript(t, Config{Kind: Ratio, Share: -1})
	for n := range 150 {
		if s.fail(s.begin(), Transient) != (n < 100) {
			t.Fatalf("retry %d of a reserve of 100", n+1)
		}
	}
	s.now = clock.Instant(10 * time.Second)
	s.want(100_000)
}

func TestActiveShare(t *testing.T) {
	s := newScript(t, Config{Kind: ActiveShare})
	var held []*Hold
	for range 3 {
		h := s.begin()
		if !s.fail(h, Transient) {
			t.Fatal("refused below the floor")
		}
		held = append(held, h)
	}
	if s.fail(s.begin(), Transient) {
		t.Fatal("granted above the floor")
	}
	for range 17 {
		s.begin()
	}
	s.want(1000) // 20 % of 20 active ones, 3 of them retries
	sleeper := s.begin()
	s.b.Report(0, &s.c, sleeper, Transient)
	if !s.b.Take(0, &s.c, sleeper, Transient) {
		t.Fatal("refused below the share")
	}
	s.want(0)
	s.b.Drop(sleeper)
	s.b.Drop(sleeper)
	s.want(1000)
	s.succeed(held[0])
	s.b.Drop(held[1])
	s.want(2000) // the share of 18 is 3.6, 1 retry is left
	if s.b.active != 18 || s.b.retries != 1 {
		t.Fatalf("%d active, %d retries", s.b.active, s.b.retries)
	}
}

func TestFailureShare(t *testing.T) {
	s := newScript(t, Config{Kind: FailureShare})
	for range 18 {
		s.succeed(s.begin())
	}
	for i, want := range []bool{true, true, false} {
		if got := s.fail(s.begin(), Transient); got != want {
			t.Fatalf("failure %d: %v", i+1, got)
		}
	}
	s.now = clock.Instant(2 * time.Minute)
	h := s.begin()
	if s.fail(h, Transient) {
		t.Fatal("one failure of one request")
	}
	s.c.Window = -1 // never forgets, and keeps what it has
	for range 100 {
		s.succeed(s.begin())
	}
	s.now = clock.Instant(time.Hour)
	if !s.fail(s.begin(), Transient) {
		t.Fatal("2 failures of 102 requests")
	}
}

func TestSREThrottleByTheDraw(t *testing.T) {
	s := newScript(t, Config{Kind: SREThrottle})
	for range 9 {
		if !s.b.Admit(0, &s.c, math.MaxUint64) {
			t.Fatal("rejected by the highest draw")
		}
	}
	s.want(100) // none of 9 accepted
	if s.b.Admit(0, &s.c, math.MaxUint64/10*9) {
		t.Fatal("admitted below the chance")
	}
	s.want(91) // the rejected one counts: 10/11
	if !s.b.Admit(0, &s.c, math.MaxUint64/11*10+99) {
		t.Fatal("rejected above the chance")
	}
	for range 6 {
		s.b.Report(0, &s.c, s.begin(), ClientError)
		s.b.Report(0, &s.c, s.begin(), Throttled)
	}
	s.want(1000) // 11 requests, 6 accepts
}

// Every other kind lets all attempts through.
func TestOnlySREThrottleRejects(t *testing.T) {
	for k := range Kind(NumKinds) {
		s := newScript(t, Config{Kind: k})
		rejected := false
		for range 50 {
			rejected = rejected || !s.b.Admit(0, &s.c, 0)
			s.fail(s.begin(), Transient)
		}
		if rejected != (k == SREThrottle) {
			t.Errorf("%v: rejected %v", k, rejected)
		}
	}
}

func TestConfigurationChanges(t *testing.T) {
	s := newScript(t, Config{Kind: AWSLegacy})
	h := s.begin()
	s.fail(h, Timeout)
	s.c.Tokens = 100_000
	s.want(90_000)
	s.c.Tokens = 4000
	s.want(0)
	s.b.Begin(0, &s.c, new(Hold))
	s.c.Tokens = 100_000
	s.want(96_000) // no debt beyond what the bucket held
	s.c.Tokens = 0
	s.b.Begin(0, &Config{Kind: GRPC}, new(Hold)) // another kind, and back
	s.want(500_000)
	if s.b.active != 3 || s.b.retries != 1 {
		t.Fatalf("%d active, %d retries survive", s.b.active, s.b.retries)
	}
	s.succeed(h)
	s.want(500_000)
	if s.b.retries != 0 {
		t.Fatalf("%d retries", s.b.retries)
	}
}

// Calls out of turn change nothing.
func TestCallsOutOfTurn(t *testing.T) {
	for k := range Kind(NumKinds) {
		s := newScript(t, Config{Kind: k})
		h := s.begin()
		before := s.b
		s.b.Begin(0, &s.c, h)
		if s.b.Take(0, &s.c, h, Transient) {
			t.Errorf("%v: a retry of an attempt in flight", k)
		}
		s.b.Report(0, &s.c, new(Hold), Transient)
		if s.b.Take(0, &s.c, new(Hold), Transient) {
			t.Errorf("%v: a retry of nothing", k)
		}
		if s.b != before {
			t.Errorf("%v: %+v became %+v", k, before, s.b)
		}
		s.b.Report(0, &s.c, h, Neutral)
		before = s.b
		s.b.Report(0, &s.c, h, Transient)
		if s.b != before {
			t.Errorf("%v: a second report counted", k)
		}
	}
}

func TestTokensChangesNothing(t *testing.T) {
	for k := range Kind(NumKinds) {
		s := newScript(t, Config{Kind: k})
		s.fail(s.begin(), Transient)
		before := s.b
		s.b.Tokens(clock.Instant(time.Hour), &Config{Kind: (k + 1) % Kind(NumKinds)})
		if s.b != before {
			t.Errorf("%v: %+v became %+v", k, before, s.b)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for k := range Kind(NumKinds) {
		if name := k.String(); name == "" || name != KindNames()[k] || seen[name] {
			t.Errorf("kind %d is called %q", k, name)
		}
		seen[k.String()] = true
	}
	if got := Kind(99).String(); got != "unknown(99)" {
		t.Error(got)
	}
	if got := (Config{Kind: 99, Tokens: 7}).Effective(); got != (Config{}) {
		t.Errorf("an unknown kind is %+v", got)
	}
}

func TestEffective(t *testing.T) {
	got := Config{Kind: Ratio, Share: 100, Floor: -1, Tokens: 9}.Effective()
	if want := (Config{Kind: Ratio, Share: 100, Window: 10 * time.Second}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSize(t *testing.T) {
	if size := unsafe.Sizeof(Budget{}); size > 128 {
		t.Errorf("a Budget has %d bytes; a fleet holds thousands", size)
	}
	if size := unsafe.Sizeof(Hold{}); size > 16 {
		t.Errorf("a Hold has %d bytes; every request has one", size)
	}
}
