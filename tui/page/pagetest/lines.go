package pagetest

import (
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// lines is made up, like the queues: critical goes before background, which
// starves in the end.
func (r *Run) lines(s *metrics.Snapshot) *metrics.LineView {
	l := &metrics.LineView{HeadsAt: s.At}
	if r.model.scenario.Fleet.Policy.Queue.Limit == 0 {
		return l
	}
	l.Classes = [wire.NumClasses]metrics.LineClass{
		{Asked: 900, Started: 900, EWMA: time.Millisecond},
		{Asked: 500, Started: 480, EWMA: 60 * time.Millisecond, Overtaken: 33, ServiceGap: 900 * time.Millisecond},
		{Asked: 300, Started: 40, EWMA: 200 * time.Millisecond, Overtaken: 12_345, ServiceGap: 4 * time.Second},
	}
	l.Jumped = [wire.NumClasses][wire.NumClasses]int64{{0, 30, 880}, {0, 2, 410}, {0, 0, 0}}
	l.Heads[wire.Interactive][wire.WaitSlot] = 12
	l.Heads[wire.Background][wire.WaitSlot] = 12
	l.Heads[wire.Background][wire.WaitProtected] = 3
	if s.At > clock.Instant(10*time.Second) {
		l.Hungers = []metrics.Hunger{
			{Client: 3, Class: wire.Background, Began: clock.Instant(7 * time.Second),
				Ended: clock.Instant(9 * time.Second), Waited: 3 * time.Second, Times: 4},
			{Client: 17, Class: wire.Background, Began: clock.Instant(10 * time.Second),
				Ended: clock.Never, Waited: 3 * time.Second, Times: 1},
		}
	}
	return l
}
