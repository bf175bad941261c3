package metrics

import "herdscope/engine/wire"

// limits is the limits that limiters have moved, by client and scope.
type limits struct {
	scopes int
	each   []int32 // 0 where the limit has not moved; made at the first move
	moved  int64
	sum    int64
	paused int64 // scopes of clients
}

// LimitView is where limiters have moved the limits of scopes.
type LimitView struct {
	// Moved is how many limits have moved since the run began, Mean what they
	// are on average, 0 if none has moved.
	Moved int64
	Mean  float64
}

func (c *Collector) limitChanged(e *wire.Event) {
	l := &c.limits
	if l.each == nil {
		l.scopes = max(1, c.config.Scopes)
		l.each = make([]int32, c.config.Clients*l.scopes)
	}
	i := int(e.ID.Client)*l.scopes + int(e.Scope)
	if int(e.Scope) >= l.scopes || i >= len(l.each) {
		return
	}
	if l.each[i] == 0 {
		l.moved++
	}
	l.sum += int64(e.Limit) - int64(l.each[i])
	l.each[i] = e.Limit
}

func (l *limits) view() LimitView {
	return LimitView{Moved: l.moved, Mean: ratio(l.sum, l.moved)}
}
