package fault

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	diff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herdscope/engine/wire"
)

// twin is a server of one service, written the plain way: two slices, and one
// step after the other in whole milliseconds.
type twin struct {
	c       Config
	serving []twinJob
	inside  []twinJob
	outside []twinJob
	log     []string
}

type twinJob struct {
	a    wire.Attempt
	n    int // in order of arrival
	ends int // in milliseconds
	left bool
}

func (w *twin) say(at int, what string, j *twinJob) {
	w.log = append(w.log, fmt.Sprintf("%d %s %v", at, what, j.a.ID))
}

// before says whether a is served before b.
func (w *twin) before(a, b twinJob) int {
	switch w.c.Order {
	case LIFO:
		return cmp.Compare(b.n, a.n)
	case Priority:
		return cmp.Or(cmp.Compare(a.a.Class, b.a.Class), cmp.Compare(a.n, b.n))
	}
	return cmp.Compare(a.n, b.n)
}

// fill lets those outside in, and free workers take up whose turn it is.
func (w *twin) fill(at int) {
	for {
		free := len(w.serving) < w.c.Workers
		room := w.c.Backlog == 0 || len(w.inside) < w.c.Backlog
		switch {
		case len(w.outside) > 0 && (room || free && len(w.inside) == 0):
			w.inside, w.outside = append(w.inside, w.outside[0]), w.outside[1:]
		case free && len(w.inside) > 0:
			slices.SortFunc(w.inside, w.before)
			j := w.inside[0]
			w.inside = w.inside[1:]
			j.ends = at + int(w.c.Service.Mean/ms)
			w.say(at, "began", &j)
			w.serving = append(w.serving, j)
		default:
			return
		}
	}
}

// pass lets everything end that ends by the given moment.
func (w *twin) pass(until int) {
	for {
		slices.SortStableFunc(w.serving, func(a, b twinJob) int { return cmp.Compare(a.ends, b.ends) })
		if len(w.serving) == 0 || w.serving[0].ends > until {
			return
		}
		j := w.serving[0]
		w.serving = w.serving[1:]
		w.say(j.ends, "done", &j)
		w.fill(j.ends)
	}
}

func (w *twin) arrive(at int, j twinJob) {
	full := w.c.Backlog != 0 && len(w.serving) >= w.c.Workers && len(w.inside) >= max(w.c.Backlog, 0)
	switch {
	case !full:
		w.inside = append(w.inside, j)
	case w.c.WhenFull == Block:
		w.outside = append(w.outside, j)
	case w.c.WhenFull == DropOldest && len(w.inside) > 0:
		slices.SortFunc(w.inside, func(a, b twinJob) int { return cmp.Compare(a.n, b.n) })
		w.say(at, "rejected", &w.inside[0])
		w.inside = append(w.inside[1:], j)
	default:
		w.say(at, "rejected", &j)
	}
	w.fill(at)
}

func (w *twin) leave(at int, a wire.Attempt) {
	for _, jobs := range []*[]twinJob{&w.serving, &w.inside, &w.outside} {
		for i := range *jobs {
			j := (*jobs)[i]
			if j.a.ID != a.ID || j.left {
				continue
			}
			if w.c.Abandoned == Serve {
				(*jobs)[i].left = true
				return
			}
			*jobs = slices.Delete(*jobs, i, i+1)
			w.say(at, "cancelled", &j)
			w.fill(at)
			return
		}
	}
}

var twinWords = map[wire.EventKind]string{
	wire.ServerBegan: "began", wire.ServerDone: "done",
	wire.ServerRejected: "rejected", wire.ServerCancelled: "cancelled",
}

// Every order and every way to be full does what a plain model does.
func TestCapacityIsThatOfItsTwin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := Config{
			Workers:   rapid.IntRange(1, 3).Draw(t, "workers"),
			Backlog:   rapid.IntRange(NoBacklog, 4).Draw(t, "backlog"),
			WhenFull:  WhenFull(rapid.IntRange(0, 2).Draw(t, "when full")),
			Order:     rapid.SampledFrom([]Order{FIFO, LIFO, Priority}).Draw(t, "order"),
			Abandoned: Abandoned(rapid.IntRange(0, 1).Draw(t, "abandoned")),
			Service:   Service{Mean: 20 * ms},
		}
		w, x := twin{c: c}, newTwinScript(t, c)
		var came []wire.Attempt
		at := 0
		for range rapid.IntRange(1, 60).Draw(t, "inputs") {
			at += rapid.IntRange(0, 12).Draw(t, "gap")
			w.pass(at)
			if len(came) > 0 && rapid.IntRange(0, 4).Draw(t, "leaves") == 0 {
				a := rapid.SampledFrom(came).Draw(t, "leaver")
				w.leave(at, a)
				x.leave(time.Duration(at)*ms, a)
				continue
			}
			a := get(len(came), 1, 1)
			a.Class = wire.Class(rapid.IntRange(0, wire.NumClasses-1).Draw(t, "class"))
			came = append(came, a)
			w.arrive(at, twinJob{a: a, n: len(came)})
			x.arrive(time.Duration(at)*ms, a)
		}
		w.pass(1 << 30)
		x.to(time.Hour)
		var got []string
		for _, e := range x.events {
			if word := twinWords[e.Kind]; word != "" {
				got = append(got, fmt.Sprintf("%d %s %v", int(e.At.Duration()/ms), word, e.ID))
			}
		}
		if d := diff.Diff(w.log, got); d != "" {
			t.Fatalf("twin (-) and server (+):\n%s", d)
		}
	})
}

func newTwinScript(t *rapid.T, c Config) *script {
	server, err := New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &script{s: server}
}
