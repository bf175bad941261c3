package fault

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herdscope/engine/clock"
	"herdscope/engine/knob"
	"herdscope/engine/wire"
)

const (
	ms = time.Millisecond
	s  = time.Second
)

// script drives a server the way a driver does, Ticks at deadlines included,
// and writes down what it asks for.
type script struct {
	t   testing.TB
	s   *Server
	log strings.Builder
	// returns is how those came back who had been sent away.
	returns []wire.Return
	buf     []wire.ServerEffect
	// events are all that there ever were.
	events []wire.Event
}

func newScript(t testing.TB, c Config) *script {
	t.Helper()
	server, err := New(c, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	return &script{t: t, s: server}
}

// to passes time up to at.
func (x *script) to(at time.Duration) {
	for {
		next, ok := x.s.Deadline()
		if !ok || next > clock.Instant(at) {
			return
		}
		x.step(time.Duration(next), wire.ServerInput{})
	}
}

func (x *script) input(at time.Duration, in wire.ServerInput) {
	x.to(at)
	x.step(at, in)
}

func (x *script) step(at time.Duration, in wire.ServerInput) {
	x.buf = x.s.Step(clock.Instant(at), in, x.buf[:0])
	for i := range x.buf {
		if x.buf[i].Kind == wire.ServerEvent {
			x.events = append(x.events, x.buf[i].Event)
		}
		fmt.Fprintf(&x.log, "%-6v %s\n", at, describe(&x.buf[i]))
		switch e := &x.buf[i].Event; {
		case e.Kind == wire.ServerReturned && e.Untold:
			x.returns = append(x.returns, wire.ReturnedUntold)
		case e.Kind == wire.ServerReturned:
			x.returns = append(x.returns, wire.ReturnAfter(e.Delay))
		}
	}
}

func get(client, request, try int) wire.Attempt {
	return wire.Attempt{ID: wire.AttemptID{
		Client: wire.ClientID(client), Request: wire.RequestID(request), Try: uint16(try),
	}, Class: wire.Interactive}
}

func post(client, request, try int) wire.Attempt {
	a := get(client, request, try)
	a.Method = wire.Post
	return a
}

func (x *script) arrive(at time.Duration, a wire.Attempt) {
	x.input(at, wire.ServerInput{Kind: wire.ServerArrive, Attempt: a})
}

func (x *script) leave(at time.Duration, a wire.Attempt) {
	x.input(at, wire.ServerInput{Kind: wire.ServerLeave, Attempt: a})
}

func (x *script) hand(at time.Duration, fault int, do wire.FaultDo) {
	x.input(at, wire.ServerInput{Kind: wire.ServerFault, Fault: uint8(fault), Do: do})
}

func (x *script) set(at time.Duration, name string, value int64) {
	x.input(at, wire.ServerInput{Kind: wire.ServerSet, Knob: knobIndex(x.t, name), Value: value})
}

func knobIndex(t testing.TB, name string) uint16 {
	t.Helper()
	for i := range Fields {
		if Fields[i].Name == name {
			return uint16(i)
		}
	}
	t.Fatalf("no knob %q", name)
	return 0
}

// want compares all that was asked for since the last want.
func (x *script) want(lines ...string) {
	x.t.Helper()
	got := strings.Split(strings.TrimSuffix(x.log.String(), "\n"), "\n")
	if diff := cmp.Diff(lines, got); diff != "" {
		x.t.Errorf("effects (-want +got):\n%s", diff)
	}
	x.log.Reset()
}

// drop leaves out the lines that contain a text.
func (x *script) drop(text string) {
	var kept strings.Builder
	for line := range strings.Lines(x.log.String()) {
		if !strings.Contains(line, text) {
			kept.WriteString(line)
		}
	}
	x.log = kept
}

// describe is an effect in one line, every set field of its event included.
func describe(e *wire.ServerEffect) string {
	switch e.Kind {
	case wire.ServerReply:
		return describeReply(e)
	case wire.ServerRefuse:
		return "close the listener"
	case wire.ServerListen:
		return "open the listener"
	}
	v := &e.Event
	b := []string{v.Kind.String()}
	if v.ID != (wire.AttemptID{}) {
		b = append(b, v.ID.String())
	}
	add := func(set bool, format string, arg any) {
		if set {
			b = append(b, fmt.Sprintf(format, arg))
		}
	}
	add(v.Delay != 0, "delay=%v", v.Delay)
	add(v.Status != 0, "status=%d", v.Status)
	add(v.Cause != wire.CauseNone, "cause=%v", v.Cause)
	add(v.Fault != wire.NoFault, "fault=%d", v.Fault)
	add(v.Wasted, "%s", "wasted")
	add(v.Untold, "%s", "untold")
	add(v.Times != 0, "times=%d", v.Times)
	add(v.Key != 0, "key=%d", v.Key)
	if v.Kind == wire.FaultBegan {
		add(v.Until != clock.Never, "until=%v", time.Duration(v.Until))
		add(v.Until == clock.Never, "until=%s", "open")
	}
	return strings.Join(b, " ")
}

func describeReply(e *wire.ServerEffect) string {
	line := fmt.Sprintf("reply %v %d", e.ID, e.Reply.Status)
	switch e.Reply.Kind {
	case wire.ReplyReset:
		line = "reset " + e.ID.String()
	case wire.ReplyRefused:
		line = "refuse " + e.ID.String()
	}
	if e.Reply.Form != wire.FormWhole {
		line += " " + e.Reply.Form.String()
	}
	if e.Reply.Hard {
		line += " hard"
	}
	if e.Reply.Over > 0 {
		line += fmt.Sprintf(" over=%v", e.Reply.Over)
	}
	if e.Reply.Hint.Form != wire.HintNone {
		line += fmt.Sprintf(" %v=%d", e.Reply.Hint.Form, e.Reply.Hint.Value)
	}
	if q := e.Reply.Quota; q != (wire.Quota{}) {
		line += fmt.Sprintf(" q=%d w=%d r=%d t=%d", q.Units, q.Window, q.Remaining, q.Reset)
	}
	if e.Reply.Replayed {
		line += " replayed"
	}
	return line
}

func TestServesInOrderOfArrival(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Service: Service{Mean: 100 * ms}})
	x.arrive(0, get(1, 1, 1))
	x.arrive(10*ms, get(2, 1, 1))
	x.arrive(20*ms, get(3, 1, 1))
	x.to(s)
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"10ms   server_arrived c0002/1#1",
		"20ms   server_arrived c0003/1#1",
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
		"100ms  server_began c0002/1#1 delay=90ms",
		"200ms  reply c0002/1#1 200",
		"200ms  server_done c0002/1#1 delay=100ms status=200",
		"200ms  server_began c0003/1#1 delay=180ms",
		"300ms  reply c0003/1#1 200",
		"300ms  server_done c0003/1#1 delay=100ms status=200",
	)
}

func TestLateTickDoesEachThingAtItsMoment(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Service: Service{Mean: 100 * ms}})
	x.arrive(0, get(1, 1, 1))
	x.arrive(0, get(2, 1, 1))
	x.step(s, wire.ServerInput{})
	for i, want := range []time.Duration{0, 100 * ms, 100 * ms, 0, 200 * ms} {
		if got := x.buf[i].Event.At; got != clock.Instant(want) {
			t.Errorf("effect %d, %s: at %v, want %v", i, describe(&x.buf[i]), got, want)
		}
	}
}

func TestTimeDoesNotGoBack(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Service: Service{Mean: 100 * ms}})
	x.arrive(50*ms, get(1, 1, 1))
	x.step(20*ms, arrival(get(2, 1, 1)))
	if got := x.buf[0].Event.At; got != clock.Instant(50*ms) || x.s.Now() != got {
		t.Errorf("an arrival stamped 20ms after one at 50ms counts at %v", got.Duration())
	}
	x.log.Reset()
	x.to(s)
	x.want(
		"150ms  reply c0001/1#1 200",
		"150ms  server_done c0001/1#1 delay=100ms status=200",
		"150ms  server_began c0002/1#1 delay=100ms",
		"250ms  reply c0002/1#1 200",
		"250ms  server_done c0002/1#1 delay=100ms status=200",
	)
}

func TestFullBacklogAnswers503(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Backlog: 1, Service: Service{Mean: 100 * ms}})
	for client := 1; client <= 3; client++ {
		x.arrive(0, get(client, 1, 1))
	}
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"0s     server_arrived c0002/1#1",
		"0s     server_arrived c0003/1#1",
		"0s     reply c0003/1#1 503",
		"0s     server_rejected c0003/1#1 status=503 cause=full",
	)
}

func TestServiceWithoutLengthEndsAtOnce(t *testing.T) {
	x := newScript(t, Config{Workers: 1})
	x.arrive(5*ms, get(1, 1, 1))
	x.want(
		"5ms    server_arrived c0001/1#1",
		"5ms    server_began c0001/1#1",
		"5ms    reply c0001/1#1 200",
		"5ms    server_done c0001/1#1 status=200",
	)
}

func TestLeaverIsServedForNothing(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Service: Service{Mean: 100 * ms}})
	x.arrive(0, get(1, 1, 1))
	x.arrive(0, get(2, 1, 1))
	x.leave(50*ms, get(1, 1, 1))
	x.leave(60*ms, get(2, 1, 1))
	x.leave(60*ms, get(3, 1, 1)) // never came
	x.to(s)
	x.leave(s, get(1, 1, 1)) // has ended
	x.want(
		"0s     server_arrived c0001/1#1",
		"0s     server_began c0001/1#1",
		"0s     server_arrived c0002/1#1",
		"100ms  server_done c0001/1#1 delay=100ms status=200 wasted",
		"100ms  server_began c0002/1#1 delay=100ms",
		"200ms  server_done c0002/1#1 delay=100ms status=200 wasted",
	)
}

func TestUnsafeRequestThatTakesEffectTwiceIsReported(t *testing.T) {
	x := newScript(t, Config{Service: Service{Mean: 10 * ms}})
	put := get(2, 1, 1)
	put.Method = wire.Put
	x.arrive(0, post(1, 1, 1))
	x.leave(5*ms, post(1, 1, 1)) // it takes effect all the same
	x.arrive(20*ms, put)
	x.to(50 * ms)
	x.log.Reset()
	put.ID.Try = 2
	x.arrive(60*ms, post(1, 1, 2))
	x.arrive(60*ms, put)
	x.arrive(60*ms, post(1, 2, 1))
	x.to(s)
	x.want(
		"60ms   server_arrived c0001/1#2",
		"60ms   server_began c0001/1#2",
		"60ms   server_arrived c0002/1#2",
		"60ms   server_began c0002/1#2",
		"60ms   server_arrived c0001/2#1",
		"60ms   server_began c0001/2#1",
		"70ms   reply c0001/1#2 200",
		"70ms   server_done c0001/1#2 delay=10ms status=200",
		"70ms   server_repeated c0001/1#2 times=2",
		"70ms   reply c0002/1#2 200",
		"70ms   server_done c0002/1#2 delay=10ms status=200",
		"70ms   reply c0001/2#1 200",
		"70ms   server_done c0001/2#1 delay=10ms status=200",
	)
}

func TestWorkersChangeLive(t *testing.T) {
	x := newScript(t, Config{Workers: 1, Service: Service{Mean: 100 * ms}})
	for client := 1; client <= 4; client++ {
		x.arrive(0, get(client, 1, 1))
	}
	x.log.Reset()
	x.set(50*ms, "server.workers", 3)
	x.want(
		"50ms   server_began c0002/1#1 delay=50ms",
		"50ms   server_began c0003/1#1 delay=50ms",
	)
	x.set(60*ms, "server.workers", 1)
	x.to(100 * ms) // two are still busy: nobody is taken up
	x.want(
		"100ms  reply c0001/1#1 200",
		"100ms  server_done c0001/1#1 delay=100ms status=200",
	)
	if x.s.Busy() != 2 || x.s.Waiting() != 1 {
		t.Errorf("busy %d, waiting %d, want 2, 1", x.s.Busy(), x.s.Waiting())
	}
	x.set(110*ms, "server.workers", 0)
	x.want("110ms  server_began c0004/1#1 delay=110ms")
}

func TestKnobsReachTheConfiguration(t *testing.T) {
	for i := range Fields {
		f := &Fields[i]
		c := Config{Service: Service{Mean: ms, Quantiles: []time.Duration{ms, s}}}
		least, most := valueRange(&f.Spec)
		if len(f.Words) > 0 {
			least = f.Words[0].Value
		}
		for _, v := range []int64{least, most, least} {
			f.Set(&c, v)
			if got := f.Get(&c); got != v {
				t.Errorf("%s: %d after it was set to %d", f.Name, got, v)
			}
			if err := c.Validate(); err != nil {
				t.Errorf("%s = %d: %v", f.Name, v, err)
			}
		}
		if f.Doc == "" || !strings.HasPrefix(f.Name, "server.") {
			t.Errorf("%s: has no meaning or a foreign name", f.Name)
		}
	}
}

// valueRange is the lowest and the highest value of a knob.
func valueRange(s *knob.Spec) (least, most int64) {
	if s.Kind == knob.Choice {
		return 0, int64(len(s.Choices) - 1)
	}
	return s.Min, s.Max
}
