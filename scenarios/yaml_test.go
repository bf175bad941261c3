package scenarios

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/breaker"
	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/queue"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// drawValue draws a value that the knob takes; at random, or one of the ends.
func drawValue(t *rapid.T, s knob.Spec) int64 {
	low, high := s.Min, s.Max
	switch s.Kind {
	case knob.Choice:
		low, high = 0, int64(len(s.Choices))-1
	case knob.Switch:
		low, high = 0, 1
	}
	if s.Zero != "" && low == 0 {
		low = 1
	}
	values := rapid.OneOf(rapid.Int64Range(low, high), rapid.SampledFrom([]int64{low, high}))
	if s.Zero != "" {
		values = rapid.OneOf(values, rapid.Just(int64(0)))
	}
	for _, w := range s.Words {
		values = rapid.OneOf(values, rapid.Just(w.Value))
	}
	return values.Draw(t, s.Name)
}

// drawScenario draws a scenario that is in order. Knobs that do not agree are
// put right, rather than drawn until they do.
func drawScenario(t *rapid.T) Scenario {
	s := Default()
	s.Name = rapid.StringMatching(`[a-z0-9]{1,8}(-[a-z0-9]{1,8}){0,3}`).Draw(t, "name")
	s.Title = strings.TrimSpace(drawText(t, "title", 100, ""))
	s.Story = strings.TrimSpace(drawText(t, "story", 400, "\n"))
	s.Seed = rapid.Uint64().Draw(t, "seed")
	s.Duration = time.Duration(drawValue(t, DurationSpec))
	s.Drain = time.Duration(drawValue(t, DrainSpec))
	for i := range settings {
		if k := &settings[i]; rapid.IntRange(0, 3).Draw(t, "changed") == 0 {
			k.set(&s, drawValue(t, k.Spec))
		}
	}
	agree(&s)
	s.Server.Service.Quantiles = drawQuantiles(t)
	drawPlaces(t, &s)
	for _, k := range s.ScopeSettings() {
		if rapid.Bool().Draw(t, "own") {
			k.set(&s, drawValue(t, k.Spec))
		}
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "faults") {
		s.Server.Faults = append(s.Server.Faults, drawFault(t, i))
	}
	s.Timeline = drawTimeline(t, s)
	return s
}

func drawText(t *rapid.T, label string, most int, more string) string {
	runes := rapid.SampledFrom([]rune("aZ0 .,:#'\"\\-?*&!|>%@`[]{}~é世🐑\u00a0\u3000\u2028" + more + more))
	runes = rapid.OneOf(runes, rapid.SampledFrom([]rune("abc  ")))
	text := strings.Map(func(r rune) rune {
		if r != '\n' && unprintable(r) {
			return -1
		}
		return r
	}, rapid.StringOfN(runes, 0, most, most).Draw(t, label))
	return text
}

// agree makes knobs agree with each other as Validate wants it.
func agree(s *Scenario) {
	p := &s.Fleet.Policy
	p.Retry.Backoff.Cap = max(p.Retry.Backoff.Cap, p.Retry.Backoff.Base)
	agreeBreaker(&p.Breaker)
	if p.Queue.Order == queue.EDF {
		p.Queue.Estimate = 0 // which may be more than a deadline
	}
	left := p.Queue.Limit
	for i := range p.Queue.Class {
		c := &p.Queue.Class[i]
		if c.Most > 0 {
			c.Least = min(c.Least, c.Most)
		}
		if p.Queue.Limit > 0 {
			c.Least = min(c.Least, left)
			left -= c.Least
		}
	}
	total := 0
	for _, mix := range s.Fleet.Mix {
		total += mix.Weight
	}
	if total == 0 {
		s.Fleet.Mix[wire.Background].Weight = 1
	}
}

func agreeBreaker(b *breaker.Config) {
	b.Successes = min(b.Successes, b.Probes)
	b.WindowFailures = min(b.WindowFailures, breaker.DefaultWindowCalls)
	if b.WindowCalls > 0 {
		b.WindowFailures = min(b.WindowFailures, b.WindowCalls)
	}
	if b.SlowAfter == 0 {
		b.SlowRate = 0
	}
	if b.OpenMax > 0 {
		b.OpenMax = max(b.OpenMax, b.OpenFor)
	}
	if b.Placement == breaker.PerRequest {
		b.WhenOpen = breaker.Reject
	}
}

func drawPlaces(t *rapid.T, s *Scenario) {
	var paths, scopes [wire.NumClasses]string
	for i := range paths {
		paths[i] = rapid.SampledFrom([]string{"", "/", "/a", "/b/c-d", "/e.f~g"}).Draw(t, "path")
		scopes[i] = rapid.SampledFrom([]string{"", "default", "a", "b-2"}).Draw(t, "scope")
	}
	d := decoder{s: *s}
	for i := range paths {
		d.places[i] = place{paths[i], scopes[i]}
	}
	drawServices(t, &d)
	d.settle()
	*s = d.s
	for i := range s.Headers {
		s.Headers[i] = rapid.SampledFrom([]string{"", "X-Beta: 1", "X-Tenant: a: b"}).Draw(t, "header")
	}
}

func drawFault(t *rapid.T, i int) fault.Fault {
	kind := fault.Kind(rapid.IntRange(0, fault.NumKinds-1).Draw(t, "kind"))
	f := fault.NewFault(kind)
	for j := range fault.FaultFields {
		known := &fault.FaultFields[j]
		if known.BelongsTo(kind) && (known.Required || rapid.Bool().Draw(t, "given")) {
			known.Set(&f, drawValue(t, known.Spec))
		}
	}
	f.Name = string(rune('a'+i)) + rapid.StringMatching(`(-[a-z]{1,5})?`).Draw(t, "name")
	switch {
	case f.Manual:
		f.Start, f.Every = 0, 0
	case f.Every <= f.Length || f.Length == 0:
		f.Every = 0
	}
	if f.Wave != fault.Steady {
		f.Period = time.Second
	}
	if f.How == fault.ByRefusing || f.How == fault.ByFreezing {
		f.Match = fault.Match{}
		return f
	}
	for j := range fault.TextFields {
		known := &fault.TextFields[j]
		if texts := someTexts[known.Name]; known.BelongsTo(kind) {
			if err := known.Set(&f, rapid.SampledFrom(texts).Draw(t, known.Name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

var someTexts = map[string][]string{
	"service": {"", fault.OwnService},
	"path":    {"", "/", "/a/b"},
	"header":  {"", "X-Beta", "X-Tenant: gold"},
	"methods": {"", "POST", "GET, PATCH"},
	"classes": {"", "critical, background"},
	"body":    {"", "busy", "{\"error\": \"a\\nb\"}\n"},
}

func drawTimeline(t *rapid.T, s Scenario) []Action {
	changes := []string{"retry.jitter", "retry.attempts", "breaker.failures", "server.workers", "arrival.rate"}
	var actions []Action
	at := clock.Instant(0)
	for range rapid.IntRange(0, 6).Draw(t, "actions") {
		at = at.Add(time.Duration(rapid.SampledFrom([]int{0, 0, 1, 1_500_000_000}).Draw(t, "later")))
		if n := len(s.Server.Faults); n > 0 && rapid.Bool().Draw(t, "fault") {
			do := rapid.IntRange(0, len(wire.FaultDoNames())-1).Draw(t, "do")
			name := s.Server.Faults[rapid.IntRange(0, n-1).Draw(t, "which")].Name
			actions = append(actions, Action{At: at, Kind: DoFault, Fault: name, Do: wire.FaultDo(do)})
			continue
		}
		name := rapid.SampledFrom(changes).Draw(t, "knob")
		k := settings[settingOf[name]]
		actions = append(actions, Action{At: at, Kind: SetKnob, Knob: name, Value: drawValue(t, k.Spec)})
	}
	return actions
}

// TestWrittenScenariosComeBack is what saving and playing again rests on.
func TestWrittenScenariosComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawScenario(t)
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("f.yaml", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Fatalf("(-written +read)\n%s\n%s", diff, text)
		}
	})
}

// TestLibraryComesBack: what the built-in files say survives being saved.
func TestLibraryComesBack(t *testing.T) {
	for _, s := range Library() {
		text, err := s.YAML()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse("f.yaml", text)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, got); diff != "" {
			t.Errorf("%s (-written +read)\n%s", s.Name, diff)
		}
	}
}

// TestYAMLIsReadable pins the look of a saved file: the order of the sections,
// the story as a block, the timeline at the end, and nothing that is standard.
func TestYAMLIsReadable(t *testing.T) {
	s := Default()
	s.Name, s.Title = "mine", "Is it: jitter?"
	s.Story = strings.Repeat("Words that go on. ", 6) + "End.\nA second paragraph."
	for name, text := range map[string]string{
		"fleet.clients": "200", "retry.attempts": "5", "retry.jitter": "none", "queue.limit": "4",
		"queue.background.most": "2", "server.workers": "20", "server.service.mean": "5ms",
		"server.limit.rate": "1.5k", "breaker.failures": "5",
	} {
		if err := s.Set(name, text); err != nil {
			t.Fatal(err)
		}
	}
	s.Server.Faults = []fault.Fault{
		{Name: "outage", Start: 5 * time.Second, Length: 3 * time.Second},
		{Name: "by-hand", Kind: fault.Errors, Length: time.Second, Manual: true, Status: 503, Share: fault.Always},
	}
	second := clock.Instant(time.Second)
	s = s.WithActions([]Action{
		{At: 20 * second, Kind: DoFault, Fault: "by-hand", Do: wire.FaultNow},
		{At: 12 * second, Kind: SetKnob, Knob: "retry.jitter", Value: 1},
		{At: 12 * second, Kind: SetKnob, Knob: "queue.limit", Value: 0},
	})
	const want = `version: 1
name: mine
title: "Is it: jitter?"
story: >-
  Words that go on. Words that go on. Words that go on. Words that go on.
  Words that go on. Words that go on. End.

  A second paragraph.
fleet:
  clients: 200
classes:
  interactive:
    weight: 1
  background:
    weight: 0
    most: 2
retry:
  attempts: 5
  jitter: none
breaker:
  failures: 5
queue:
  limit: 4
server:
  workers: 20
  service:
    mean: 5ms
  limit:
    rate: 1500/s
faults:
  - name: outage
    kind: outage
    start: 5s
    length: 3s
  - name: by-hand
    kind: errors
    manual: on
    length: 1s
timeline:
  - at: 12s
    set:
      retry.jitter: full
      queue.limit: unlimited
  - at: 20s
    fault: by-hand
    do: now
`
	got, err := s.YAML()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestYAMLRefusesWhatIsWrong(t *testing.T) {
	s := Default()
	s.Fleet.Clients = 0
	want := `write scenario: fleet.clients: "0" is out of range; allowed: 1 to 1000000`
	if _, err := s.YAML(); err == nil || err.Error() != want {
		t.Errorf("error = %v, want %s", err, want)
	}
}

// TestOneFormOfManyFiles: a file reads the same with a byte order mark, with the
// line ends of Windows, and in the notation of JSON.
func TestOneFormOfManyFiles(t *testing.T) {
	const text = "version: 1\nname: x\nretry:\n  base: 1 s\n  network: no\nstory: |\n  a\n  b\n"
	want := Default()
	want.Name, want.Story = "x", "a\nb"
	want.Fleet.Policy.Retry.Backoff.Base = time.Second
	want.Fleet.Policy.Retry.Network = false
	for name, text := range map[string]string{
		"plain":   text,
		"mark":    "\ufeff" + text,
		"windows": strings.ReplaceAll(text, "\n", "\r\n"),
		"json":    `{"version": 1, "name": "x", "retry": {"base": "1s", "network": false}, "story": "a\nb"}`,
		"comment": "# c\n---\n" + text + "# c\n",
	} {
		got, err := Parse(name, []byte(text))
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestClassesThatAreLeftOut have no requests, and add no scope or route.
func TestClassesThatAreLeftOut(t *testing.T) {
	s, err := Parse("f", []byte(head+"classes:\n  background: {path: /b, scope: batch}\n  critical:\n"))
	if err != nil {
		t.Fatal(err)
	}
	weights := [wire.NumClasses]int{}
	for i, mix := range s.Fleet.Mix {
		weights[i] = mix.Weight
	}
	if want := [wire.NumClasses]int{1, 0, 1}; weights != want {
		t.Errorf("weights = %v, want %v", weights, want)
	}
	if diff := cmp.Diff([]string{"/b"}, s.Routes); diff != "" {
		t.Errorf("routes (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"batch"}, s.Scopes); diff != "" {
		t.Errorf("scopes (-want +got)\n%s", diff)
	}
}

// TestTimelineMayBeInAnyOrder: it is sorted, and what is at once keeps its order.
func TestTimelineMayBeInAnyOrder(t *testing.T) {
	s, err := Parse("f", []byte(head+"timeline:\n"+
		"  - {at: 9s, set: {retry.jitter: none}}\n"+
		"  - {at: 3s, set: {retry.jitter: equal, retry.attempts: 2}}\n"+
		"  - {at: 3s, set: {retry.jitter: full}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range s.Timeline {
		got = append(got, a.At.Duration().String()+" "+a.String())
	}
	want := []string{"3s jitter=equal", "3s attempts=2", "3s jitter=full", "9s jitter=none"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestChangesAtOnceAreJudgedTogether: raising base and cap at the same moment is
// in order, whichever comes first.
func TestChangesAtOnceAreJudgedTogether(t *testing.T) {
	checkError(t, head+"timeline:\n  - at: 1s\n    set: {retry.base: 1m, retry.cap: 2m}\n", "")
}

func FuzzParse(f *testing.F) {
	for _, s := range Library() {
		text, err := s.YAML()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{"", head, "\ufeff" + head, "a: [", "a: &x *x", "- - -", "\t", "'", "? :", "%"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Parse("f.yaml", data)
		if err != nil {
			if msg := err.Error(); !strings.HasPrefix(msg, "f.yaml:") || strings.Contains(msg, "\n") {
				t.Fatalf("an error that is not one line about the file: %q", msg)
			}
			return
		}
		text, err := s.YAML()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := Parse("again", text)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v\n%s", err, text)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Fatalf("(-first +second)\n%s\n%s", diff, text)
		}
	})
}
