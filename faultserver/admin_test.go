package faultserver

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

func adminBench(t *testing.T) *bench {
	return newBench(t, fault.Config{
		Faults: []fault.Fault{
			{Name: "outage", Kind: fault.Outage, Start: 5 * sec, Length: sec, Every: 10 * sec},
			{Name: "burst", Kind: fault.Errors, Manual: true, Length: 2 * sec, Status: 503, Share: fault.Always},
		},
	}, func(c *Config) { c.Routes, c.Admin = []string{"/api"}, DefaultAddr })
}

// admin makes one request of the admin API.
func (b *bench) admin(method, path, body string, fields ...string) result {
	r, err := http.NewRequest(method, b.AdminURL()+path, strings.NewReader(body))
	if err != nil {
		return result{err: err}
	}
	return b.do(r, fields...)
}

func decode[T any](t *testing.T, r result) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(r.body), &v); err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	if got := r.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q, want application/json", got)
	}
	return v
}

func TestStatsTellOfEachFault(t *testing.T) {
	b := adminBench(t)
	b.clock.set(5500 * ms)
	until := 6.0
	want := Stats{
		NowSeconds: 5.5, Statuses: map[string]int64{}, Services: []ServiceStats{{Name: "default"}},
		Effects: EffectStats{Listed: []RepeatStats{}}, Faults: []FaultStats{
			{"outage", "outage", FaultState{On: true, Hand: "auto", UntilSeconds: &until}},
			{"burst", "errors", FaultState{Hand: "auto"}},
		},
	}
	if diff := cmp.Diff(want, decode[Stats](t, b.admin("GET", "/_fault/stats", ""))); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
}

// faultAnswer is what the API says of a fault, as far as tests look at it.
type faultAnswer struct {
	Name, Kind string
	Status     int
	Share      float64
	State      FaultState
}

func TestFaultsByHand(t *testing.T) {
	b := adminBench(t)
	if r := b.get("/api"); r.status != 200 {
		t.Fatalf("before: %+v, want 200", r)
	}
	f := decode[faultAnswer](t, b.admin("POST", "/_fault/faults/burst/now", ""))
	if !f.State.On || f.State.UntilSeconds == nil || *f.State.UntilSeconds != 2 {
		t.Errorf("after now: %+v, want on until 2 s", f)
	}
	if r := b.get("/api"); r.status != 503 {
		t.Errorf("with the fault on: %+v, want 503", r)
	}
	f = decode[faultAnswer](t, b.admin("POST", "/_fault/faults/burst/off", ""))
	if f.State.On || f.State.Hits != 1 || f.State.Hand != "off" {
		t.Errorf("after off: %+v, want off, 1 hit", f)
	}
	if r := b.get("/api"); r.status != 200 {
		t.Errorf("with the fault off: %+v, want 200", r)
	}
}

func TestFaultsComeChangeAndGo(t *testing.T) {
	b := adminBench(t)
	const path = "/_fault/faults/bad"
	r := b.admin("POST", "/_fault/faults", `{"name": "bad", "kind": "errors", "status": 502, "length": "1h"}`)
	if r.status != 201 || r.header.Get("Location") != path {
		t.Fatalf("create: %+v", r)
	}
	if f := decode[faultAnswer](t, r); !f.State.On || f.Status != 502 || f.Share != 1 {
		t.Errorf("created %+v, want on at once, status 502, share 1", f)
	}
	if r := b.get("/api"); r.status != 502 {
		t.Errorf("with the new fault: %+v, want 502", r)
	}
	f := decode[faultAnswer](t, b.admin("PATCH", path, `{"status": 504}`))
	if f.Status != 504 || f.State.Hits != 1 {
		t.Errorf("changed to %+v, want status 504 and the hit kept", f)
	}
	if r := b.get("/api"); r.status != 504 {
		t.Errorf("with the changed fault: %+v, want 504", r)
	}
	if f := decode[faultAnswer](t, b.admin("DELETE", path, "")); f.State.Hits != 2 {
		t.Errorf("deleted %+v, want 2 hits", f)
	}
	if r := b.get("/api"); r.status != 200 {
		t.Errorf("without the fault: %+v, want 200", r)
	}
	if r := b.admin("GET", path, ""); r.status != 404 {
		t.Errorf("the deleted fault: %+v, want 404", r)
	}
}

// What GET shows of a fault makes the same fault when it is posted.
func TestFaultsSurviveTheWayThroughJSON(t *testing.T) {
	for kind := range fault.NumKinds {
		f := fault.NewFault(fault.Kind(kind))
		f.Name, f.Start, f.Length, f.Every = "f", 1500*ms, 2*sec, time.Minute
		for i := range fault.FaultFields {
			if k := &fault.FaultFields[i]; k.Required && k.BelongsTo(f.Kind) && k.Get(&f) == 0 {
				k.Set(&f, k.Min)
			}
		}
		text, err := json.Marshal(describeFault(&f))
		if err != nil {
			t.Fatal(err)
		}
		entries, wrong := readObject(strings.NewReader(string(text)))
		if wrong != nil {
			t.Fatalf("%s: %+v", text, wrong)
		}
		back, begins, wrong := newFault(entries)
		if wrong != nil || begins || back != f {
			t.Errorf("%s: came back as %+v, %v, %+v", text, back, begins, wrong)
		}
	}
}

// Every value of every knob goes through JSON and back.
func TestKnobsSurviveTheWayThroughJSON(t *testing.T) {
	for i := range fault.Fields {
		k := &fault.Fields[i]
		for _, v := range []int64{0, k.Min, k.Max} {
			if k.Check(v) != nil {
				continue
			}
			text, err := json.Marshal(object{{k.Name, jsonValue(&k.Spec, v)}})
			if err != nil {
				t.Errorf("%s of %d: %v", k.Name, v, err)
				continue
			}
			entries, wrong := readObject(strings.NewReader(string(text)))
			if wrong != nil {
				t.Fatalf("%s: %+v", text, wrong)
			}
			inputs, wrong := knobInputs(entries)
			if wrong != nil || inputs[0].Knob != uint16(i) || inputs[0].Value != v {
				t.Errorf("%s came back as %+v, %+v", text, inputs, wrong)
			}
		}
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	b := adminBench(t)
	const faults = "/_fault/faults"
	for _, c := range []struct {
		method, path, body string
		status             int
		want               problem
	}{
		{"POST", faults + "/outagge/on", "", 404, problem{
			Error: `there is no fault "outagge"`, Value: "outagge",
			Allowed: []string{"outage", "burst"}, Nearest: "outage"}},
		{"POST", faults + "/outage/onn", "", 400, problem{
			Error: `there is no action "onn"`, Value: "onn",
			Allowed: wire.FaultDoNames(), Nearest: "on"}},
		{"GET", faults + "/outage/on", "", 405, problem{
			Error: `there is no method "GET" for the path "/_fault/faults/outage/on"`,
			Value: "GET", Allowed: []string{"POST"}}},
		{"POST", "/_fault/stats", "", 405, problem{
			Error: `there is no method "POST" for the path "/_fault/stats"`,
			Value: "POST", Allowed: []string{"GET"}}},
		{"POST", faults, `{"name": "burst", "kind": "outage", "length": "1s"}`, 409, problem{
			Error: `there is a fault "burst" already`, Field: "name", Value: "burst",
			Allowed: []string{"a name that no other fault has"}}},
		{"POST", faults, `{"name": "x", "kind": "error"}`, 400, problem{
			Error: `kind: "error" is not among the choices; allowed: one of ` +
				strings.Join(fault.KindNames(), ", ") + `; did you mean "errors"?`,
			Field: "kind", Value: "error", Allowed: fault.KindNames(), Nearest: "errors"}},
		{"POST", faults, `{"name": "x"}`, 400, problem{
			Error: "kind: it is missing", Field: "kind", Allowed: fault.KindNames()}},
		{"POST", faults, `{"kind": "outage", "length": "1s"}`, 400, problem{
			Error: "name: it is missing", Field: "name",
			Allowed: []string{"lower case words with hyphens, such as rate-limit"}}},
		{"POST", faults, `{"name": "x y", "kind": "outage", "length": "1s"}`, 400, problem{
			Error: `name: "x y" is not a name`, Field: "name", Value: "x y",
			Allowed: []string{"lower case words with hyphens, such as rate-limit"}}},
		{"PATCH", faults + "/burst", `{"name": "crash"}`, 400, problem{
			Error: "name: a fault keeps its name", Field: "name", Value: "crash", Allowed: []string{"burst"}}},
		{"PATCH", faults + "/burst", `{"kind": "outage"}`, 400, problem{
			Error: "kind: a fault keeps its kind", Field: "kind", Value: "outage", Allowed: []string{"errors"}}},
		{"PATCH", faults + "/burst", `{"status": 200}`, 400, problem{
			Error: `status: "200" is out of range; allowed: 400 to 599`, Field: "status", Value: "200",
			Allowed: []string{"400 to 599"}}},
		{"PATCH", faults + "/burst", `{"start": "1s"}`, 400, problem{
			Error: "start: it does not belong to a fault that is manual", Field: "start",
			Allowed: []string{"manual: false, or no start and no every"}}},
		{"PATCH", faults + "/burst", `{"status": 500, "status": 501}`, 400, problem{
			Error: "status: it is there twice", Field: "status"}},
		{"PATCH", faults + "/burst", `{"status": [{}]}`, 400, problem{
			Error: "status: it must be a text, a number, true, false, or a list of those", Field: "status"}},
		{"PATCH", faults + "/burst", `{"status": null}`, 400, problem{
			Error: "status: it must be a text, a number, true, false, or a list of those", Field: "status"}},
		{"PATCH", faults + "/burst", `{"methods": ["GET", "PATC"]}`, 400, problem{
			Error: `methods: "PATC" is not among the choices; allowed: some of ` +
				strings.Join(wire.MethodNames(), ", ") + `; did you mean "PATCH"?`,
			Field: "methods", Value: "PATC", Nearest: "PATCH",
			Allowed: []string{"some of " + strings.Join(wire.MethodNames(), ", ")}}},
		{"PATCH", faults + "/burst", `status=500`, 400, problem{
			Error:   "this is no JSON object: invalid character 's' looking for beginning of value",
			Allowed: []string{"one JSON object"}}},
		{"PATCH", faults + "/burst", `{} {}`, 400, problem{
			Error: "this is no JSON object: something follows it", Allowed: []string{"one JSON object"}}},
		{"PATCH", faults + "/burst", ``, 400, problem{
			Error: "this is no JSON object: unexpected EOF", Allowed: []string{"one JSON object"}}},
		{"PATCH", "/_fault/knobs", `{"server.workers": -1}`, 400, problem{
			Error: `server.workers: "-1" is out of range; allowed: 1 to 1000000, or unlimited`,
			Field: "server.workers", Value: "-1", Allowed: []string{"1 to 1000000, or unlimited"}}},
		{"GET", "/_fault/schedule?for=ever", "", 400, problem{
			Error: `for: "ever" is not a duration with a unit, such as 1.2s or 500ms; allowed: 1ms to 24h`,
			Field: "for", Value: "ever", Allowed: []string{"1ms to 24h"}}},
	} {
		r := b.admin(c.method, c.path, c.body)
		if r.status != c.status {
			t.Errorf("%s %s %s: status %d, want %d", c.method, c.path, c.body, r.status, c.status)
		}
		if diff := cmp.Diff(c.want, decode[problem](t, r), cmpopts.IgnoreUnexported(problem{})); diff != "" {
			t.Errorf("%s %s %s (-want +got):\n%s", c.method, c.path, c.body, diff)
		}
		if allow := r.header.Get("Allow"); (allow != "") != (c.status == 405) {
			t.Errorf("%s %s: Allow %q with status %d", c.method, c.path, allow, c.status)
		}
	}
	if p := decode[problem](t, b.admin("PATCH", faults+"/burst", `{"statsu": 500}`)); p.Field != "statsu" ||
		p.Nearest != "status" || len(p.Allowed) < 3 {
		t.Errorf("a misspelt field: %+v", p)
	}
	large := `{"status": "` + strings.Repeat("5", maxObject) + `"}`
	if r := b.admin("PATCH", faults+"/burst", large); r.status != 413 {
		t.Errorf("a large object: status %d, want 413", r.status)
	}
	list := decode[struct{ Faults []faultAnswer }](t, b.admin("GET", faults, ""))
	if len(list.Faults) != 2 || list.Faults[1].Status != 503 {
		t.Errorf("what was wrong has changed something: %+v", list)
	}
}

func TestTrafficIsNoPlaceForTheAPI(t *testing.T) {
	b := adminBench(t)
	for _, c := range []struct {
		method, path string
		status       int
		want         problem
	}{
		{"GET", "/_fault/stats", 404, problem{
			Error: `there is no path "/_fault/stats"`, Value: "/_fault/stats", Allowed: []string{"/api"}}},
		{"GET", "/", 404, problem{Error: `there is no path "/"`, Value: "/", Allowed: []string{"/api"}}},
		{"CONVERT", "/api", 405, problem{
			Error: `there is no method "CONVERT" for the path "/api"`, Value: "CONVERT",
			Allowed: wire.MethodNames()}},
	} {
		r := b.call(context.Background(), c.method, c.path)
		if r.status != c.status {
			t.Errorf("%s %s: status %d, want %d", c.method, c.path, r.status, c.status)
		}
		if diff := cmp.Diff(c.want, decode[problem](t, r), cmpopts.IgnoreUnexported(problem{})); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.method, c.path, diff)
		}
	}
	if got := b.count(wire.ServerArrived); got != 0 {
		t.Errorf("%d arrivals, want 0", got)
	}
}

func TestKnobsChangeTogetherOrNotAtAll(t *testing.T) {
	b := adminBench(t)
	b.admin("DELETE", "/_fault/faults/outage", "") // the gap that it leaves is no mistake
	type knobs struct {
		Workers any `json:"server.workers"`
		Backlog any `json:"server.backlog"`
	}
	got := decode[knobs](t, b.admin("PATCH", "/_fault/knobs", `{"server.workers": 4, "server.backlog": 9}`))
	if got.Workers != 4.0 || got.Backlog != 9.0 {
		t.Errorf("knobs %+v, want 4 workers, backlog 9", got)
	}
	b.admin("PATCH", "/_fault/knobs", `{"server": {"workers": 5}, "server.backlog": "many"}`)
	got = decode[knobs](t, b.admin("GET", "/_fault/knobs", ""))
	if got.Workers != 4.0 || got.Backlog != 9.0 {
		t.Errorf("after a change that was refused: %+v, want 4 and 9", got)
	}
}

func TestScheduleListsWhatIsToCome(t *testing.T) {
	b := adminBench(t)
	b.clock.set(5500 * ms)
	b.admin("POST", "/_fault/faults/burst/on", "")
	end, next := 6.0, 16.0
	want := schedule{NowSeconds: 5.5, UntilSeconds: 25.5, Windows: []scheduleWindow{
		{"outage", 5.5, &end}, {"burst", 5.5, nil}, {"outage", 15, &next},
		{"outage", 25, new(float64)},
	}}
	*want.Windows[3].ToSeconds = 26
	got := decode[schedule](t, b.admin("GET", "/_fault/schedule?for=20s", ""))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("schedule (-want +got):\n%s", diff)
	}
}

func TestResetGivesBackTheStart(t *testing.T) {
	b := adminBench(t)
	before := b.admin("GET", "/_fault/faults", "").body
	knobs := b.admin("GET", "/_fault/knobs", "").body
	b.admin("DELETE", "/_fault/faults/outage", "")
	b.admin("POST", "/_fault/faults", `{"name": "bad", "kind": "errors", "length": "1h"}`)
	b.admin("PATCH", "/_fault/faults/burst", `{"status": 418}`)
	b.admin("POST", "/_fault/faults/burst/on", "")
	b.admin("PATCH", "/_fault/knobs", `{"server.workers": 4}`)
	b.get("/api")
	b.get("/elsewhere")
	stats := decode[Stats](t, b.admin("POST", "/_fault/reset", ""))
	if stats.Arrivals != 0 || len(stats.Statuses) != 0 || stats.Refused != 0 {
		t.Errorf("counts are left: %+v", stats)
	}
	if after := b.admin("GET", "/_fault/faults", "").body; after != before {
		t.Errorf("faults are %s, want %s", after, before)
	}
	if after := b.admin("GET", "/_fault/knobs", "").body; after != knobs {
		t.Errorf("knobs are %s, want %s", after, knobs)
	}
	if r := b.get("/api"); r.status != 200 {
		t.Errorf("afterwards: %+v, want 200", r)
	}
}

func TestLongerRoutesComeFirst(t *testing.T) {
	got := longestFirst([]string{"/a", "/a/b", "/a/b/c", "/"})
	if diff := cmp.Diff([]int{2, 1, 0, 3}, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
}
