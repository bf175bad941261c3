package pagetest

import (
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// lanes is the breakers of the first clients, and the transitions of all.
func (r *Run) lanes(s *metrics.Snapshot) *metrics.LaneView {
	m, w := r.model, r.watch
	cols := max(w.BreakerCols, 1)
	v := &metrics.LaneView{
		Matching: int64(len(m.clients)), Total: int64(len(m.changes)),
		Width: max(w.Span/time.Duration(cols), 1),
	}
	v.Start = clock.Instant((s.At.Bin(v.Width) - int64(cols) + 1) * int64(v.Width))
	v.Skipped = int64(min(w.BreakerSkip, len(m.clients)))
	for i := w.BreakerSkip; i < min(w.BreakerSkip+w.BreakerRows, len(m.clients)); i++ {
		v.Lanes = append(v.Lanes, m.lane(v, i, cols))
	}
	for _, e := range slices.Backward(m.changes) {
		if len(v.Flips) > 0 {
			last := &v.Flips[len(v.Flips)-1]
			if last.At.Bin(bin) == e.At.Bin(bin) && last.To == e.To && last.From == e.From {
				last.At = e.At
				last.N++
				continue
			}
		}
		if len(v.Flips) == w.Flips {
			break
		}
		v.Flips = append(v.Flips, metrics.Flips{
			From: e.From, To: e.To, At: e.At, Last: e.At, N: 1, Client: e.ID.Client,
			Cause: wire.CauseThreshold,
		})
	}
	return v
}

// lane is one breaker. What only its machine knows is made up.
func (m *model) lane(v *metrics.LaneView, i, cols int) metrics.Lane {
	l := metrics.Lane{
		Client: wire.ClientID(i), State: m.clients[i].state, Looked: true,
		Strip:  slices.Repeat([]wire.BreakerState{wire.Closed}, cols),
		Detail: wire.BreakerDetail{Until: clock.Never, Failures: int32(i % 2)},
	}
	for _, e := range m.changes {
		if e.ID.Client != l.Client {
			continue
		}
		l.Since = e.At
		if e.To == wire.Open {
			l.Opened++
			l.Bad += l.Opened - 1
		}
		for c := range l.Strip {
			if v.Start.Add(time.Duration(c+1)*v.Width) > e.At {
				l.Strip[c] = e.To
			}
		}
	}
	for c := range l.Strip {
		if v.Start.Add(time.Duration(c)*v.Width) < 0 {
			l.Strip[c] = metrics.NoState
		}
	}
	if l.State == wire.Open {
		l.Detail.Until = l.Since.Add(10 * time.Second)
	}
	return l
}
