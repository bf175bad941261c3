package faultserver

import (
	"cmp"
	"net/http"
	"slices"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/faultserver/fault"
)

// mostWindows is how many windows of a schedule are listed.
const mostWindows = 1000

// schedule is what is to come, as far as the schedules of the faults tell.
type schedule struct {
	NowSeconds float64 `json:"now_s"`
	// UntilSeconds is how far the list goes: as asked, or to the last window
	// listed if there are more than mostWindows.
	UntilSeconds float64          `json:"until_s"`
	Windows      []scheduleWindow `json:"windows"`
}

// scheduleWindow is one window of one fault. One that a hand holds open, or that
// has no length, has no end.
type scheduleWindow struct {
	Fault       string   `json:"fault"`
	FromSeconds float64  `json:"from_s"`
	ToSeconds   *float64 `json:"to_s"`
}

// horizonSpec is the parameter that says how far a schedule is asked for.
var horizonSpec = knob.Spec{
	Name: "for", Kind: knob.Duration, Min: int64(time.Millisecond), Max: int64(fault.MaxMoment),
}

// horizon is the default of that parameter.
const horizon = time.Minute

func (s *Server) getSchedule(r *http.Request) (any, *problem) {
	span := horizon
	if text := r.URL.Query().Get(horizonSpec.Name); text != "" {
		v, err := horizonSpec.Parse(text)
		if err != nil {
			return nil, refusal(err)
		}
		span = time.Duration(v)
	}
	return s.work(func(o *owner) (any, *problem) { return o.schedule(span), nil })
}

// schedule lists the windows that are open now or begin within a time, the
// earliest first.
func (o *owner) schedule(span time.Duration) schedule {
	now := o.model.Now()
	all := schedule{NowSeconds: now.Seconds(), UntilSeconds: now.Add(span).Seconds()}
	all.Windows = []scheduleWindow{}
	for i := range o.model.Faults() {
		if o.model.HasFault(i) {
			all.Windows = o.appendWindows(all.Windows, i, now, now.Add(span))
		}
	}
	slices.SortStableFunc(all.Windows, func(a, b scheduleWindow) int {
		return cmp.Compare(a.FromSeconds, b.FromSeconds)
	})
	if len(all.Windows) > mostWindows {
		all.Windows = all.Windows[:mostWindows]
		all.UntilSeconds = all.Windows[mostWindows-1].FromSeconds
	}
	return all
}

func (o *owner) appendWindows(
	windows []scheduleWindow, i int, now, until clock.Instant,
) []scheduleWindow {
	f := o.model.Faults()[i]
	on, next := o.model.FaultState(i)
	from := now
	if on {
		windows = append(windows, windowOf(&f, now, next))
		from = next
	}
	if o.model.FaultHand(i) != wire.FaultAuto {
		return windows
	}
	for n := 0; n <= mostWindows && from != clock.Never; n++ {
		begin := f.NextAfter(from)
		if begin == clock.Never || begin >= until {
			break
		}
		end := clock.Never
		if f.Length > 0 {
			end = begin.Add(f.Length)
		}
		windows = append(windows, windowOf(&f, begin, end))
		from = end
	}
	return windows
}

func windowOf(f *fault.Fault, from, to clock.Instant) scheduleWindow {
	w := scheduleWindow{Fault: f.Name, FromSeconds: from.Seconds()}
	if to != clock.Never {
		seconds := to.Seconds()
		w.ToSeconds = &seconds
	}
	return w
}
