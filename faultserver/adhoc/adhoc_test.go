package adhoc

import (
	"errors"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

// ask is the answer to an arrival: pattern, the values of its parts, query.
func ask(pattern string, vars map[string]string, query string, arrival int) (Answer, error) {
	values, err := url.ParseQuery(query)
	if err != nil {
		return Answer{}, err
	}
	i := slices.IndexFunc(Routes, func(r Route) bool { return r.Pattern == pattern })
	return Routes[i].Answer(&Request{
		Vars: vars, Query: values, Client: 7, Arrival: wire.RequestID(arrival), Seed: 1,
		Now: clock.Instant(1500 * time.Millisecond), EpochUnixNanos: 1_577_836_800_000_000_000,
	})
}

type vars = map[string]string

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		pattern string
		vars    vars
		query   string
		want    Answer
	}{
		{"/status/{codes}", vars{"codes": "418"}, "", Answer{Status: 418}},
		{"/status/{codes}", vars{"codes": "200:0,503:1"}, "", Answer{Status: 503}},
		{"/delay/{d}", vars{"d": "150ms"}, "", Answer{Status: 200, Wait: 150 * time.Millisecond}},
		{"/delay/{d}", vars{"d": "2.5"}, "", Answer{Status: 200, Wait: 2500 * time.Millisecond}},
		{"/delay/{d}", vars{"d": "0"}, "", Answer{Status: 200}},
		{"/unstable", nil, "rate=0", Answer{Status: 200}},
		{"/unstable", nil, "rate=1", Answer{Status: 500}},
		{"/unstable", nil, "rate=1&status=503", Answer{Status: 503}},
		{"/retry-after/{form}/{value}", vars{"form": "seconds", "value": "3"}, "",
			Answer{Status: 429, RetryAfter: []string{"3"}}},
		{"/retry-after/{form}/{value}", vars{"form": "date", "value": "3s"}, "status=503",
			Answer{Status: 503, RetryAfter: []string{"Wed, 01 Jan 2020 00:00:05 GMT"}}},
		{"/retry-after/{form}/{value}", vars{"form": "twice", "value": "3s"}, "",
			Answer{Status: 429, RetryAfter: []string{"3", "6"}}},
		{"/retry-after/{form}/{value}", vars{"form": "none", "value": "3s"}, "", Answer{Status: 429}},
		{"/retry-after/{form}/{value}", vars{"form": "pushback", "value": "3s"}, "",
			Answer{Status: 429, Pushback: []string{"3000"}}},
		{"/retry-after/{form}/{value}", vars{"form": "pushback-stop", "value": "0"}, "",
			Answer{Status: 429, Pushback: []string{"-1"}}},
		{"/retry-after/{form}/{value}", vars{"form": "raw", "value": " soon"}, "",
			Answer{Status: 429, RetryAfter: []string{" soon"}}},
		{"/drip", nil, "", Answer{Status: 200, Drip: 2 * time.Second, Bytes: 10}},
		{"/drip", nil, "duration=1&bytes=3&delay=20ms&status=201",
			Answer{Status: 201, Drip: time.Second, Bytes: 3, Wait: 20 * time.Millisecond}},
		{"/reset", nil, "", Answer{Reset: true}},
	} {
		got, err := ask(c.pattern, c.vars, c.query, 1)
		if err != nil {
			t.Errorf("%s %v %s: %v", c.pattern, c.vars, c.query, err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s %v %s (-want +got):\n%s", c.pattern, c.vars, c.query, diff)
		}
	}
}

func TestMistakesNameTheParameter(t *testing.T) {
	for _, c := range []struct {
		pattern       string
		vars          vars
		query         string
		name, nearest string
	}{
		{"/status/{codes}", vars{"codes": "600"}, "", "codes", ""},
		{"/status/{codes}", vars{"codes": "199"}, "", "codes", ""},
		{"/status/{codes}", vars{"codes": "200,"}, "", "codes", ""},
		{"/status/{codes}", vars{"codes": "200:0"}, "", "codes", ""},
		{"/status/{codes}", vars{"codes": "200:-1"}, "", "codes", ""},
		{"/status/{codes}", vars{"codes": "200:x"}, "", "codes", ""},
		{"/delay/{d}", vars{"d": "long"}, "", "d", ""},
		{"/delay/{d}", vars{"d": "2h"}, "", "d", ""},
		{"/delay/{d}", vars{"d": "NaN"}, "", "d", ""},
		{"/unstable", nil, "rate=1.1", "rate", ""},
		{"/unstable", nil, "rat=1", "rat", "rate"},
		{"/retry-after/{form}/{value}", vars{"form": "second", "value": "3s"}, "", "form", "seconds"},
		{"/retry-after/{form}/{value}", vars{"form": "seconds", "value": "x"}, "", "value", ""},
		{"/drip", nil, "bytes=0", "bytes", ""},
		{"/reset", nil, "after=1s", "after", ""},
	} {
		_, err := ask(c.pattern, c.vars, c.query, 1)
		var refused *knob.Error
		if !errors.As(err, &refused) || refused.Knob != c.name || refused.Nearest != c.nearest || refused.Allowed == "" {
			t.Errorf("%s %v %s: error %v, want one about %s, nearest %q", c.pattern, c.vars, c.query, err, c.name, c.nearest)
		}
	}
}

// The same arrivals of the same client meet the same fate, about as often as the
// weights say.
func TestDrawsAreTheClientsOwn(t *testing.T) {
	const n = 10_000
	draw := func() (statuses []int) {
		for i := range n {
			a, err := ask("/status/{codes}", vars{"codes": "200:0.9,503:0.1"}, "", i+1)
			if err != nil {
				t.Fatal(err)
			}
			statuses = append(statuses, a.Status)
		}
		return statuses
	}
	first := draw()
	if diff := cmp.Diff(first, draw()); diff != "" {
		t.Errorf("a second run (-first +second):\n%s", diff)
	}
	counts := map[int]int{}
	for _, status := range first {
		counts[status]++
	}
	// The deviation is sqrt(10,000 x 0.1 x 0.9) = 30.
	if got := slices.Sorted(maps.Keys(counts)); !slices.Equal(got, []int{200, 503}) || abs(counts[503]-n/10) > 150 {
		t.Errorf("statuses %v", counts)
	}
}

func abs(n int) int { return max(n, -n) }
