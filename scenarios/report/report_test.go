package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
	"herdscope/scenarios"
	"herdscope/scenarios/run"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file under testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got); -update rewrites it:\n%s", path, diff)
	}
}

// eventful is a result in which every part has something to say.
func eventful() run.Result {
	ms := time.Millisecond
	r := run.Result{
		Scenario: scenarios.Scenario{Name: "gateway-down", Seed: math.MaxUint64},
		Faults: []metrics.FaultView{{Name: "outage", Hits: 2345}, {Name: "quota", Hits: 12, Missed: 1},
			{Name: "typo", On: true}},
	}
	r.Scenario.Server.Workers = 8
	r.Summary = metrics.Summary{
		Duration: 90*time.Second + 123456789, Clients: 1000,
		Requests: 1_234_567, Attempts: 1_500_000, Retries: 265_433, InFlight: 293_643,
		Statuses:      map[uint16]int64{503: 4000, 200: 1_200_000, 0: 2345, 429: 12},
		Amplification: 1.215001, Goodput: 13_333.33333, Missed: 3,
		Herd: metrics.Herd{
			BinWidth: 100 * ms, Bins: 901, Arrivals: 1_500_000, PeakToMean: 17.94, Chance: 1.0901,
			Fano: [3]float64{31.25, 12.5, 0}, Enough: [3]bool{true, true, false},
			Period: 1200 * ms, R: 0.4321234567, Floor: 0.00072, HintedWaveShare: 0.925, Hinted: 230,
		},
		Opened: 30, HalfOpened: 20, Closed: 10, OpenShare: 0.123456789,
		Early: 1, OnTime: 229, Late: 4, Untold: 3,
		Recovery: metrics.Recovery{Known: true, Took: 8312 * ms},
		Arrivals: 1_499_990, Rejected: 4012, Reset: 2345, BusyShare: 0.9312, WastedShare: 0.0421, Duplicates: 7,
		Repeated: 6, Replayed: 11, Repeats: []metrics.Repeat{
			{ID: wire.AttemptID{Client: 417, Request: 12, Try: 2}, At: 2_500_000_000, Times: 3},
			{ID: wire.AttemptID{Client: 3, Request: 1, Try: 1}, At: 2_600_000_000, Key: 0xc0ffee, Times: 2},
		},
	}
	r.Summary.Outcomes = [wire.NumOutcomes]int64{
		wire.Succeeded: 1_200_000, wire.Degraded: 1, wire.Failed: 30_000, wire.TimedOut: 4000,
		wire.ExpiredInQueue: 300, wire.Shed: 200, wire.ShortCircuited: 50, wire.Cancelled: 6,
		wire.Unfinished: 10,
	}
	r.Summary.Latency = [wire.NumClasses]metrics.Percentiles{
		wire.Critical:    {Count: 1_100_000, P50: 5 * ms, P90: 41 * ms, P99: 1240 * ms, Max: 130 * time.Second},
		wire.Interactive: {Count: 99, P50: 60 * ms, P90: 90 * ms, P99: 99 * ms, Max: 99 * ms},
		wire.Background:  {Count: 9, P50: 2 * time.Second, P90: 3 * time.Second, P99: 3 * time.Second, Max: 14 * time.Second},
	}
	r.Summary.Waits[wire.Background] = metrics.Percentiles{Count: 400, P50: 700 * ms, P90: 8 * time.Second, P99: 14 * time.Second, Max: 15 * time.Second}
	r.Summary.Oldest[wire.Background] = 14200 * ms
	r.Summary.Starved[wire.Background] = 2
	r.Summary.KeptBack[wire.Background] = 31
	r.Summary.Overtaken[wire.Background] = 812
	r.Summary.ServiceGap[wire.Background] = 12_500 * ms
	r.Summary.WaitEWMA[wire.Background] = 340 * ms
	r.Summary.Pages = metrics.Percentiles{Count: 400, P50: 60 * ms, P90: 90 * ms, P99: 1240 * ms, Max: 3 * time.Second}
	r.Summary.PagesFailed = 20
	return r
}

// silent is a run in which nothing happened at all.
func silent() run.Result {
	return run.Result{
		Scenario: scenarios.Scenario{Name: "idle"},
		Live:     true,
		Aborted:  true,
		Summary: metrics.Summary{
			Clients:  1,
			Herd:     metrics.Herd{BinWidth: 100 * time.Millisecond},
			Recovery: metrics.Recovery{Why: "no fault"},
		},
	}
}

func TestGolden(t *testing.T) {
	for name, r := range map[string]run.Result{"eventful": eventful(), "silent": silent()} {
		t.Run(name, func(t *testing.T) {
			var object, text bytes.Buffer
			if err := JSON(&object, r); err != nil {
				t.Fatal(err)
			}
			if err := Text(&text, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name+".json", object.Bytes())
			golden(t, name+".txt", text.Bytes())
		})
	}
}

func TestJSONOfNumbersThatAreNone(t *testing.T) {
	r := eventful()
	r.Summary.Amplification, r.Summary.Goodput = math.NaN(), math.Inf(1)
	r.Summary.Herd.Fano[0], r.Summary.OpenShare = math.Inf(-1), math.NaN()
	var out bytes.Buffer
	if err := JSON(&out, r); err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, out.String())
	}
	for _, key := range []string{"amplification", "goodput_per_s"} {
		if v, there := doc[key]; !there || v != nil {
			t.Errorf("%s is %v, there %v; want null", key, v, there)
		}
	}
}

func TestJSONIsOneObjectWithTheSameBytes(t *testing.T) {
	var first, second bytes.Buffer
	if err := errors.Join(JSON(&first, eventful()), JSON(&second, eventful())); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two equal results gave different bytes")
	}
	dec := json.NewDecoder(&first)
	var doc map[string]any
	if err := dec.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	if dec.More() {
		t.Error("there is more after the object")
	}
}

func TestPercentilesNeedSamples(t *testing.T) {
	for _, tc := range []struct {
		count         int64
		p50, p90, p99 bool
	}{
		{0, false, false, false}, {1, true, false, false}, {9, true, false, false}, {10, true, true, false},
		{99, true, true, false}, {100, true, true, true}, {101, true, true, true},
	} {
		p := metrics.Percentiles{Count: tc.count}
		for q, want := range map[int]bool{50: tc.p50, 90: tc.p90, 99: tc.p99, 100: tc.count > 0} {
			if _, enough := at(p, q); enough != want {
				t.Errorf("p%d of %d samples: enough is %v, want %v", q, tc.count, enough, want)
			}
		}
	}
}

func TestTextIsPlain(t *testing.T) {
	r := eventful()
	r.Scenario.Name, r.Faults[0].Name = "\x1b[31mred", "bell\a"
	r.Summary.Recovery = metrics.Recovery{Why: "line\nbreak"}
	var out bytes.Buffer
	if err := Text(&out, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "line\nbreak") {
		t.Error("a name broke a line")
	}
	for _, b := range out.Bytes() {
		if b != '\n' && (b < ' ' || b > '~') {
			t.Fatalf("byte %#x in\n%s", b, out.String())
		}
	}
}

func TestErrorsOfTheWriter(t *testing.T) {
	if err := JSON(fullDisk{}, eventful()); !errors.Is(err, errFull) {
		t.Errorf("JSON: %v", err)
	}
	if err := Text(fullDisk{}, eventful()); !errors.Is(err, errFull) {
		t.Errorf("Text: %v", err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func named() scenarios.Scenario {
	s := scenarios.Scenario{Scopes: []string{"api"}}
	s.Server.Faults = []fault.Fault{{Name: "outage"}, {Name: `a "quoted" one`}}
	return s
}

func TestEventsGolden(t *testing.T) {
	ms := time.Millisecond
	id := wire.AttemptID{Client: 417, Request: 12, Try: 3}
	var out bytes.Buffer
	e := NewEvents(&out, named())
	for _, ev := range []wire.Event{
		{Kind: wire.RequestBegan, ID: id},
		{Kind: wire.FaultBegan, At: 1_500_000_000, Fault: 0},
		{Kind: wire.RetryScheduled, At: 1_500_000_001, ID: id, Class: wire.Interactive, Delay: 1234567, Ceiling: 1200 * ms,
			Cause: wire.CauseReset},
		{Kind: wire.RetryScheduled, At: 1_600_000_000, ID: id, Class: wire.Background, Delay: 2 * time.Second, Ceiling: 2 * time.Second,
			Hinted: true, Hint: wire.HintClamped, Cause: wire.CauseStatus, Status: 429},
		{Kind: wire.RetryRefused, At: 1_650_000_000, ID: id, Class: wire.Background, Delay: 301 * time.Second,
			Cause: wire.CauseStatus, Status: 503},
		{Kind: wire.BreakerChanged, At: 1_700_000_000, ID: id, From: wire.Closed, To: wire.Open, Cause: wire.CauseThreshold},
		{Kind: wire.ProbeDone, At: 1_800_000_000, ID: id, Class: wire.Critical, Good: true, Cause: wire.CauseStatus, Status: 200},
		{Kind: wire.StarvationBegan, At: 1_900_000_000, ID: id, Class: wire.Background, Delay: 5 * time.Second},
		{Kind: wire.StarvationEnded, At: 2_000_000_000, ID: id, Class: wire.Background, Delay: 100 * ms},
		{Kind: wire.FaultEnded, At: 3_000_000_000, Fault: 1},
		{Kind: wire.FaultEnded, At: 3_000_000_000, Fault: 9},
		{Kind: wire.ServerRepeated, At: 3_100_000_000, ID: wire.AttemptID{Client: 7, Request: 2, Try: 3}, Times: 2},
		{Kind: wire.ServerReplayed, At: 3_200_000_000, ID: wire.AttemptID{Client: 7, Request: 2, Try: 4},
			Key: 0xc0ffee, Status: 200},
	} {
		e.Observe(ev)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	golden(t, "events.ndjson", out.Bytes())
	for line := range strings.Lines(out.String()) {
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %s", line)
		}
	}
}

func TestEventsKeepTheFirstError(t *testing.T) {
	e := NewEvents(fullDisk{}, named())
	for range 2 * eventBuffer / 40 {
		e.Observe(wire.Event{Kind: wire.FaultBegan})
	}
	if err := e.Close(); !errors.Is(err, errFull) {
		t.Errorf("Close gives %v", err)
	}
}

func TestEventsDoNotAllocate(t *testing.T) {
	e := NewEvents(&bytes.Buffer{}, named())
	e.Observe(wire.Event{Kind: wire.RetryScheduled})
	got := testing.AllocsPerRun(100, func() { e.Observe(wire.Event{Kind: wire.RetryScheduled}) })
	if got != 0 {
		t.Errorf("%v allocations for an event", got)
	}
}

func TestNumbers(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000"} {
		if got := grouped(n); got != want {
			t.Errorf("grouped(%d) is %q, want %q", n, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0 ms", 1500 * time.Microsecond: "1.50 ms", 41 * time.Millisecond: "41 ms",
		1240 * time.Millisecond: "1.24 s", 14200 * time.Millisecond: "14.2 s", 125 * time.Second: "2m05s",
		-41 * time.Millisecond: "-41 ms",
	} {
		if got := span(d); got != want {
			t.Errorf("span(%v) is %q, want %q", d, got, want)
		}
	}
}
