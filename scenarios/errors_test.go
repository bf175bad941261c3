package scenarios

import (
	"errors"
	"strings"
	"testing"
)

// head is the least that a scenario file has; what follows it begins in line 3.
const head = "version: 1\nname: x\n"

// TestErrors is the table of what a file can have wrong with it. Each message is
// all that its author sees, so each is here in full.
func TestErrors(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"not fields", "hello", `f.yaml:1:1: a scenario is made of fields, such as name: my-test; this is a value`},
		{"a list", "- a\n", `f.yaml:1:1: a scenario is made of fields, such as name: my-test; this is a list`},
		{"no version", "name: x\n", `f.yaml:1:1: version: is missing; write version: 1`},
		{"other version", "version: 2\nname: x\n",
			`f.yaml:1:10: version: "2" is not a version that this program reads; allowed: 1`},
		{"misspelt version", "verson: 1\nname: x\n", `f.yaml:1:1: verson: there is no such field` + topFields +
			`; did you mean "version"?`},
		{"no name", "version: 1\n",
			`f.yaml:1:1: name: is missing; write name: followed by lower case words with hyphens`},
		{"bad name", "version: 1\nname: Foo\n",
			`f.yaml:2:7: name: "Foo" is not a name; allowed: lower case words with hyphens, such as rate-limit`},
		{"unknown section", head + "mixx: 1\n", `f.yaml:3:1: mixx: there is no such field` + topFields},
		{"twice", head + "retry:\n  base: 1s\n  base: 2s\n",
			`f.yaml:5:3: retry.base: is here a second time; the first is in line 4`},
		{"empty key", head + "null: 2\n", `f.yaml:3:1: null: there is no such field` + topFields},
		{"text with lines", head + "title: \"a\\nb\"\n", `f.yaml:3:1: title: has more than one line`},
		{"list for a text", head + "title: [a]\n", `f.yaml:3:8: title: must be a single value; this is a list`},
		{"terminal escape", head + "story: \"a\\e[31mb\"\n",
			`f.yaml:3:1: story: holds a character that cannot be shown`},
		{"seed below zero", head + "seed: -1\n",
			`f.yaml:3:7: seed: "-1" is not a seed; allowed: 0 to 18446744073709551615`},
		{"fractional seed", head + "seed: 1.5\n",
			`f.yaml:3:7: seed: "1.5" is not a seed; allowed: 0 to 18446744073709551615`},
		{"no time", head + "duration: 0s\n", `f.yaml:3:11: duration: "0s" is out of range; allowed: 1ms to 24h`},

		{"misspelt knob", head + "breaker: {faliures: 5}\n",
			`f.yaml:3:11: breaker.faliures: there is no such field; ` +
				`allowed: failures, mode, placement, when_open, shared, window, window_calls, window_time, ` +
				`window_failures, failure_rate, min_calls, slow_rate, slow_after, slow_in_flight, ` +
				`open_for, open_growth, open_max, open_jitter, open_hint, stable, probes, successes, ` +
				`verdict, lease; did you mean "failures"?`},
		{"misspelt nested knob", head + "server:\n  service: {men: 5ms}\n",
			`f.yaml:4:13: server.service.men: there is no such field; ` +
				`allowed: shape, mean, sigma, spread, alpha, per_in_flight, factor, quantiles; did you mean "mean"?`},
		{"misspelt choice", head + "retry: {jitter: ful}\n",
			`f.yaml:3:17: retry.jitter: "ful" is not among the choices; ` +
				`allowed: one of none, full, equal, decorrelated, additive, proportional, spread, ` +
				`minus, v2; did you mean "full"?`},
		{"no unit", head + "retry: {base: 1000}\n",
			`f.yaml:3:15: retry.base: "1000" has no unit; write 1000ms or 1000s; allowed: 0s to 1h`},
		{"no value", head + "retry:\n  base:\n", `f.yaml:4:9: retry.base: has no value; allowed: 0s to 1h`},
		{"list for a knob", head + "retry: {base: [1s]}\n",
			`f.yaml:3:15: retry.base: must be a single value; this is a list; allowed: 0s to 1h`},
		{"value for a section", head + "retry: 5\n",
			`f.yaml:3:8: retry: must have fields of its own; this is a value`},
		{"empty section", head + "retry:\n", `f.yaml:3:8: retry: has no fields`},
		{"cap under base", head + "retry: {cap: 50ms}\n",
			`f.yaml:3:9: retry.cap: "50ms" is below retry.base; allowed: 100ms or more`},
		{"base over default cap", head + "retry: {base: 1m}\n",
			`f.yaml:3:1: retry.cap: "10s" is below retry.base; allowed: 1m or more`},

		{"misspelt class", head + "classes: {critcal: {weight: 1}}\n",
			`f.yaml:3:11: classes.critcal: there is no such field; ` +
				`allowed: critical, interactive, background; did you mean "critical"?`},
		{"misspelt class field", head + "classes: {critical: {mehtod: GET}}\n",
			`f.yaml:3:22: classes.critical.mehtod: there is no such field; allowed: least, most, deadline, ` +
				`starved_after, turns, weight, method, timeout, path, scope, header; did you mean "method"?`},
		{"no requests", head + "classes: {critical: {weight: 0}}\n",
			`f.yaml:3:1: classes.interactive.weight: "0" leaves no class a weight; ` +
				`allowed: 1 to 1000 for at least one class`},
		{"path", head + "classes: {critical: {path: /a/{id}}}\n", `f.yaml:3:31: is not YAML: ',' or '}' must be specified`},
		{"pattern", head + "classes: {critical: {path: '/a/{id}'}}\n",
			`f.yaml:3:28: classes.critical.path: "/a/{id}" is not a path; ` +
				`allowed: a clean one of letters, digits and -._~, such as /api/pay`},
		{"unclean path", head + "classes: {critical: {path: /a/../b}}\n",
			`f.yaml:3:28: classes.critical.path: "/a/../b" is not a path; ` +
				`allowed: a clean one of letters, digits and -._~, such as /api/pay`},
		{"path of the admin API", head + "classes: {critical: {path: /_fault/state}}\n",
			`f.yaml:3:28: classes.critical.path: "/_fault/state" is kept for the fault server's own API; ` +
				`allowed: a path that does not begin with /_fault/`},
		{"root of the admin API", head + "classes: {critical: {path: /_fault}}\n",
			`f.yaml:3:28: classes.critical.path: "/_fault" is kept for the fault server's own API; ` +
				`allowed: a path that does not begin with /_fault/`},
		{"path like the admin API's", head + "classes: {critical: {path: /_faults}}\n", ""},
		{"scope", head + "classes: {critical: {scope: A}}\n",
			`f.yaml:3:29: classes.critical.scope: "A" is not a name; ` +
				`allowed: lower case words with hyphens, such as rate-limit`},

		{"faults are a list", head + "faults: {}\n",
			`f.yaml:3:9: faults: must be a list, each entry after a hyphen; this is fields of its own`},
		{"no kind", head + "faults: [{name: a}]\n",
			`f.yaml:3:10: faults[0].kind: is missing; allowed: one of outage, errors, latency, quota, capacity, close, reset, truncated, garbage, bad-chunk, drip, slow-header, idle-close`},
		{"misspelt kind", head + "faults: [{name: a, kind: outge}]\n",
			`f.yaml:3:26: faults[0].kind: "outge" is not among the choices; ` +
				`allowed: one of outage, errors, latency, quota, capacity, close, reset, truncated, garbage, bad-chunk, drip, slow-header, idle-close; did you mean "outage"?`},
		{"field of another kind", head + "faults:\n  - name: a\n    kind: outage\n    status: 503\n",
			`f.yaml:6:5: faults[0].status: does not belong to a fault of the kind outage; ` +
				`allowed: name, kind, manual, start, length, every, clients, how, service, path, header, methods, classes`},
		{"misspelt fault field", head + "faults: [{name: a, kind: latency, aded: 5ms}]\n",
			`f.yaml:3:35: faults[0].aded: there is no such field; ` +
				`allowed: name, kind, manual, start, length, every, clients, share, unit, first, nth, until, per_client, added, replace, shape, sigma, spread, alpha, wave, period, service, path, header, methods, classes; did you mean "added"?`},
		{"misspelt method of a fault", head + "faults:\n  - name: a\n    kind: errors\n    start: 0s\n    methods: OPTION\n",
			`f.yaml:7:14: faults[0].methods: "OPTION" is not among the choices; ` +
				`allowed: some of GET, HEAD, OPTIONS, TRACE, PUT, DELETE, POST, PATCH; did you mean "OPTIONS"?`},
		{"unknown service of a fault", head + "faults:\n  - name: a\n    kind: errors\n    start: 0s\n    service: defalt\n",
			`f.yaml:7:5: faults[0].service: "defalt" is no service; allowed: default; did you mean "default"?`},
		{"fault without a start", head + "faults: [{name: a, kind: outage, length: 5s}]\n",
			`f.yaml:3:10: faults[0].start: is missing from a fault of the kind outage; allowed: 0s to 24h`},
		{"quota without a rate", head + "faults: [{name: a, kind: quota, start: 1s, length: 5s}]\n",
			`f.yaml:3:10: faults[0].rate: is missing from a fault of the kind quota; ` +
				`allowed: 0.001/s to 1000000/s`},
		{"fault without a name", head + "faults: [{kind: outage, start: 1s, length: 5s}]\n",
			`f.yaml:3:10: faults[0].name: is missing from a fault of the kind outage; ` +
				`allowed: lower case words with hyphens`},
		{"good status", head + "faults: [{name: a, kind: errors, start: 1s, length: 5s, status: 200}]\n",
			`f.yaml:3:65: faults[0].status: "200" is out of range; allowed: 400 to 599`},
		{"windows that touch", head + "faults: [{name: a, kind: outage, start: 1s, length: 5s, every: 5s}]\n",
			`f.yaml:3:57: faults[0].every: must be longer than the fault's length, or once`},
		{"manual with a start",
			head + "faults: [{name: a, kind: outage, start: 1s, length: 5s, manual: on}]\n",
			`f.yaml:3:34: faults[0].start: does not belong to a fault that is manual`},
		{"two of a name", head + "faults:\n  - {name: a, kind: outage, start: 1s, length: 5s}\n" +
			"  - {name: a, kind: outage, start: 1s, length: 5s}\n",
			`f.yaml:5:6: faults[1].name: "a" is the name of another fault already`},

		{"misspelt scope", withScopes + "scopes: {exprts: {limit: 1}}\n",
			`f.yaml:4:10: scopes.exprts: there is no such field; allowed: api, exports; did you mean "exports"?`},
		{"misspelt field of a scope", withScopes + "scopes: {exports: {limt: 1}}\n",
			`f.yaml:4:20: scopes.exports.limt: there is no such field; ` +
				`allowed: limit, capacity; did you mean "limit"?`},
		{"limit of a scope", withScopes + "scopes: {exports: {limit: -1}}\n",
			`f.yaml:4:27: scopes.exports.limit: "-1" is out of range; ` +
				`allowed: 1 to 1000000, 0 to pause, unlimited, or default`},
		{"later limit of a scope", withScopes + "timeline: [{at: 1s, set: {scopes.exprts.limit: 1}}]\n",
			`f.yaml:4:27: timeline[0].set.scopes.exprts.limit: there is no such knob; ` +
				`allowed: scopes.api.limit, scopes.api.capacity, scopes.exports.limit, ` +
				`scopes.exports.capacity; did you mean "scopes.exports.limit"?`},
		{"misspelt fault", withFault + "timeline:\n  - at: 5s\n    fault: outge\n    do: now\n",
			`f.yaml:7:12: timeline[0].fault: "outge" does not exist; allowed: outage; did you mean "outage"?`},
		{"no such fault", head + "timeline:\n  - at: 5s\n    fault: a\n    do: now\n",
			`f.yaml:5:12: timeline[0].fault: "a" does not exist: there are no faults`},
		{"misspelt deed", withFault + "timeline:\n  - at: 5s\n    fault: outage\n    do: nwo\n",
			`f.yaml:8:9: timeline[0].do: "nwo" is not among the choices; ` +
				`allowed: one of auto, on, off, now`},
		{"no deed", withFault + "timeline:\n  - at: 5s\n    fault: outage\n",
			`f.yaml:6:5: timeline[0].do: is missing; allowed: one of auto, on, off, now`},
		{"unknown knob", head + "timeline:\n  - at: 5s\n    set: {retry.jiter: full}\n",
			`f.yaml:5:11: timeline[0].set.retry.jiter: there is no such knob; did you mean "retry.jitter"?`},
		{"fixed knob", head + "timeline:\n  - at: 5s\n    set: {fleet.clients: 5}\n",
			`f.yaml:5:11: timeline[0].set.fleet.clients: is fixed while a run goes on; set it beforehand`},
		{"nothing to do", head + "timeline:\n  - at: 5s\n",
			`f.yaml:4:5: timeline[0]: must have either set, or fault and do`},
		{"two things to do", withFault + "timeline:\n  - {at: 5s, fault: outage, do: now, set: {retry.jitter: full}}\n",
			`f.yaml:6:5: timeline[0]: must have either set, or fault and do`},
		{"no moment", head + "timeline:\n  - set: {retry.jitter: full}\n",
			`f.yaml:4:5: timeline[0].at: is missing; allowed: 0s to 24h`},
		{"moment without unit", head + "timeline: [{at: 5, set: {retry.jitter: full}}]\n",
			`f.yaml:3:17: timeline[0].at: "5" has no unit; write 5ms or 5s; allowed: 0s to 24h`},
		{"misspelt entry", head + "timeline:\n  - at: 5s\n    sett: {}\n",
			`f.yaml:5:5: timeline[0].sett: there is no such field; ` +
				`allowed: at, set, fault, do; did you mean "set"?`},
		{"disagreement later on", head + "timeline:\n  - at: 5s\n    set:\n      retry.cap: 1ms\n",
			`f.yaml:6:7: timeline[0].set.retry.cap: "1ms" is below retry.base; allowed: 100ms or more`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkError(t, tt.text, tt.want) })
	}
}

const (
	topFields = "; allowed: version, name, title, story, seed, duration, drain, fleet, arrival, classes, " +
		"retry, breaker, queue, scopes, fallback, auth, transport, budget, limiter, dedup, server, services, " +
		"routes, network, faults, timeline"
	withScopes = head + "classes: {interactive: {scope: api}, background: {scope: exports}}\n"
	withFault  = head + "faults:\n  - {name: outage, kind: outage, start: 5s, length: 1s}\n"
)

// TestOddFiles is field bug P-E1: files that are no YAML, or more of it than a
// scenario needs, get a message that says what to do, at once.
func TestOddFiles(t *testing.T) {
	const (
		tab    = "a tab is used for indentation; use spaces"
		anchor = "anchors, aliases and merge keys are not allowed; write the value out"
		empty  = "f.yaml: is empty; a scenario has at least version: 1 and a name"
	)
	tests := []struct{ name, text, want string }{
		{"empty", "", empty},
		{"only comments", "# nothing yet\n", empty},
		{"only a mark", "\ufeff", empty},
		{"tab", head + "retry:\n\tbase: 1s\n", "f.yaml:4:1: " + tab},
		{"tab after spaces", head + "retry:\n  \tbase: 1s\n", "f.yaml:4:3: " + tab},
		{"tab at once", "\tversion: 1\n", "f.yaml:1:1: " + tab},
		{"UTF-16 with mark", "\xff\xfev\x00", "f.yaml:1:1: is written in UTF-16; save it as UTF-8"},
		{"UTF-16 big endian", "\x00v\x00e\x00r", "f.yaml:1:1: is written in UTF-16; save it as UTF-8"},
		{"UTF-16 without mark", "v\x00e\x00r\x00", "f.yaml:1:1: is written in UTF-16; save it as UTF-8"},
		{"NUL", head + "title: a\x00\n", "f.yaml:3:9: there is a NUL byte here; a scenario is plain text"},
		{"escape", head + "title: \x1b[31m\n",
			"f.yaml:3:8: there is a control character here; a scenario is plain text"},
		{"Latin-1", head + "title: caf\xe9\n", "f.yaml:3:11: this is not UTF-8; save the file as UTF-8"},
		{"too large", strings.Repeat("#", 1<<20+1), "f.yaml: is too large; a scenario may have 1 MB"},
		{"too many tokens", head + "faults: [" + strings.Repeat("1,", 20_000) + "]",
			"f.yaml:3:40001: has too many fields and values; allowed: about 13333"},
		{"deep brackets", head + "title: " + strings.Repeat("[", 100_000),
			"f.yaml:3:27: is nested too deeply; allowed: 20 levels"},
		{"deep hyphens", strings.Repeat("- ", 10_000), "f.yaml:1:41: is nested too deeply; allowed: 20 levels"},
		{"many keys", "version: 1\n" + strings.Repeat("a: 1\n", 10_000),
			"f.yaml:501:2: has too many entries; allowed: 500"},
		{"brackets that close", strings.Repeat("]", 100_000),
			"f.yaml:1:1: a bracket closes here that was never opened"},
		{"anchor", head + "retry: &a {base: 1s}\n", "f.yaml:3:8: " + anchor},
		{"alias", head + "retry: *a\n", "f.yaml:3:8: " + anchor},
		{"merge key", head + "<<: {a: b}\n", "f.yaml:3:1: " + anchor},
		{"bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", "f.yaml:1:4: " + anchor},
		{"tag", head + "title: !!str x\n", "f.yaml:3:8: tags are not allowed; write the plain value"},
		{"question mark", head + "? a\n: b\n",
			"f.yaml:3:1: keys that begin with ? are not allowed; write key: value"},
		{"directive", "%YAML 1.2\n---\n" + head, "f.yaml:1:1: YAML directives are not allowed"},
		{"second document", head + "---\nname: y\n",
			"f.yaml:4:1: a second document begins here; a file holds one scenario"},
		{"after the end", head + "...\nfoo\n", "f.yaml:4:1: is not YAML: unexpected end content"},
		{"after JSON", `{"version": 1, "name": "x"} x`,
			"f.yaml:1:29: is not YAML: value is not allowed in this context"},
		{"two values", head + "title: 'a' 'b'\n",
			"f.yaml:3:12: a second value begins here; put a comma or a new line between them"},
		{"open quote", head + "title: \"open\n",
			"f.yaml:3:8: is not YAML: could not find end character of double-quoted text"},
		{"open bracket", head + "fleet: {clients: 1\n",
			"f.yaml:3:8: is not YAML: could not find flow mapping end token '}'"},
		{"list as a key", head + "[a]: 2\n", "f.yaml:3:4: is not YAML: found an invalid key for this map"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { checkError(t, tt.text, tt.want) })
	}
}

// TestNumbers is field bug P-L3: zero, fractions, huge values and what is no
// number get one error each that names field and range, or the documented
// meaning.
func TestNumbers(t *testing.T) {
	const (
		rates    = "; allowed: 0.001/s to 1000000/s"
		clients  = "; allowed: 1 to 1000000"
		timeouts = "; allowed: 1ms to 24h, or off"
		bases    = "; allowed: 0s to 1h"
	)
	at := func(section, field string) string {
		return "f.yaml:3:" + map[string]string{"arrival": "17", "fleet": "18", "retry": "15"}[section] +
			": " + section + "." + field + ": "
	}
	tests := []struct{ section, field, value, want string }{
		{"arrival", "rate", "0", at("arrival", "rate") + `"0" is out of range` + rates},
		{"arrival", "rate", "-1", at("arrival", "rate") + `"-1" is out of range` + rates},
		{"arrival", "rate", "0.1", ""},
		{"arrival", "rate", "1e9", at("arrival", "rate") + `"1e9" is not a plain number` + rates},
		{"arrival", "rate", ".nan", at("arrival", "rate") + `".nan" is not a plain number` + rates},
		{"arrival", "rate", ".inf", at("arrival", "rate") + `".inf" is not a plain number` + rates},
		{"arrival", "rate", `"10"`, ""},
		{"arrival", "rate", "10/s", ""},
		{"arrival", "rate", "1e-9", at("arrival", "rate") + `"1e-9" is not a plain number` + rates},
		{"arrival", "rate", "99999999999999999999",
			at("arrival", "rate") + `"99999999999999999999" is out of range` + rates},
		{"fleet", "clients", "0", at("fleet", "clients") + `"0" is out of range` + clients},
		{"fleet", "clients", "1", ""},
		{"fleet", "clients", "100000", ""},
		{"fleet", "clients", "1.5", at("fleet", "clients") + `"1.5" is not a whole number` + clients},
		{"fleet", "clients", "0x10", at("fleet", "clients") + `"0x10" is not a plain number` + clients},
		{"retry", "base", "-1ms", at("retry", "base") + `"-1ms" is out of range` + bases},
		{"retry", "base", "0s", ""},
	}
	for _, tt := range tests {
		text := head + tt.section + ": {" + tt.field + ": " + tt.value + "}\n"
		t.Run(text[len(head):], func(t *testing.T) { checkError(t, text, tt.want) })
	}
	for value, want := range map[string]string{
		"0":   `f.yaml:3:34: classes.interactive.timeout: "0" could be read either way; write off` + timeouts,
		"1ns": `f.yaml:3:34: classes.interactive.timeout: "1ns" is out of range` + timeouts,
		"24h": "",
		"off": "",
	} {
		checkError(t, head+"classes: {interactive: {timeout: "+value+"}}\n", want)
	}
	checkError(t, head+"retry: {attempts: 0}\n",
		`f.yaml:3:19: retry.attempts: "0" is out of range; allowed: 1 to 100`)
	checkError(t, head+"retry: {multiplier: 1}\n", "")
	checkError(t, head+"retry: {multiplier: 0.5}\n",
		`f.yaml:3:21: retry.multiplier: "0.5" is out of range; allowed: 1 to 10`)
}

// checkError parses the text and compares the error; want is empty if there is
// to be none.
func checkError(t *testing.T, text, want string) {
	t.Helper()
	_, err := Parse("f.yaml", []byte(text))
	if want == "" {
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
		return
	}
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("Parse(%.80q) = %v, want an *Error", text, err)
	}
	if got := err.Error(); got != want {
		t.Errorf("Parse(%.80q)\n got %s\nwant %s", text, got, want)
	}
}
