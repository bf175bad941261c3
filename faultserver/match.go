package faultserver

import (
	"net/http"
	"slices"

	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// meets says for which faults a request has the path and the header that they
// ask for, as wire.Attempt.Meets does.
func (o *owner) meets(r *http.Request) (set uint64) {
	for i, f := range o.model.Faults() {
		if f.Match.Textual() && f.Match.MeetsPath(r.URL.Path) && hasHeader(r, &f.Match) {
			set |= 1 << i
		}
	}
	return set
}

func hasHeader(r *http.Request, m *fault.Match) bool {
	if m.Header == "" {
		return true
	}
	name, value := m.HeaderField()
	values := r.Header.Values(name)
	return len(values) > 0 && (value == "" || slices.Contains(values, value))
}

// textOf is what the fault behind a reply says in it.
func (o *owner) textOf(r wire.Reply) string {
	if i := int(r.Fault) - 1; o.model.HasFault(i) {
		return o.model.Faults()[i].Body
	}
	return ""
}

// idleLimit is a fault that closes idle connections, from since on.
type idleLimit struct {
	fault.IdleLimit
	since clock.Instant
}

// reviewIdle sees to it that the faults that close idle connections are known to
// those who follow the connections.
func (o *owner) reviewIdle() {
	var limits []idleLimit
	for _, l := range o.model.IdleLimits() {
		limits = append(limits, idleLimit{l, o.model.Now()})
	}
	if before := o.idleLimits.Load(); len(limits) == 0 && (before == nil || len(*before) == 0) {
		return
	}
	o.idleLimits.Store(&limits)
	if o.idled != nil {
		o.idled()
	}
}
