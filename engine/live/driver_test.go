package live

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/wire"
)

var _ Fleet = (*fleet.Fleet)(nil)

// TestAReplyThatRacedWithItsAbortIsFed builds the race by hand: the reply was
// in the inbox when the fleet gave the attempt up.
func TestAReplyThatRacedWithItsAbortIsFed(t *testing.T) {
	for _, tt := range []struct {
		result result
		fed    int
	}{
		{result{reply: wire.Reply{Status: 200}}, 1},
		{result{aborted: true}, 0},
	} {
		f := &script{}
		d, err := New(Config{
			Fleet: f, Clock: NewClock(), BaseURL: "http://h", Routes: []string{"/"}, Clients: 1,
		})
		if err != nil {
			t.Fatal(err)
		}
		cancelled := false
		a := &attempt{Attempt: attemptOf(1, wire.Get), cancel: func() { cancelled = true }}
		d.sent[a.ID] = a
		d.abort(a.ID)
		d.deliver(&message{attempt: a, result: tt.result})
		if got := len(f.fedSoFar(fleet.Answered)); got != tt.fed || !cancelled {
			t.Errorf("%+v: fed %d times, want %d; cancelled %v", tt.result, got, tt.fed, cancelled)
		}
	}
}

func TestTimeDoesNotGoBackForAReply(t *testing.T) {
	f := &script{}
	d, err := New(Config{Fleet: f, Clock: NewClock(), BaseURL: "http://h", Clients: 1})
	if err != nil {
		t.Fatal(err)
	}
	d.step(seconds(2), fleet.Input{Kind: fleet.Tick})
	hint := wire.Hint{Form: wire.HintSeconds, Value: 3}
	d.deliver(&message{
		at: seconds(1), attempt: &attempt{},
		result: result{reply: wire.Reply{Status: 503, Hint: hint}},
	})
	got := f.fedSoFar(fleet.Answered)
	expectAt(t, got, 2*time.Second)
	if got[0].in.NotBefore != seconds(4) {
		t.Errorf("not before %v, want 3s after it was received", got[0].in.NotBefore.Duration())
	}
}

func TestEventsAreObservedInOrder(t *testing.T) {
	f := &script{on: func(now clock.Instant, in fleet.Input) []engine.Effect {
		var out []engine.Effect
		for i := range 3 {
			out = append(out, engine.Effect{Kind: engine.Report, Event: wire.Event{Fault: uint8(i)}})
		}
		return out
	}}
	seen := make(chan uint8, 3)
	begin(t, Config{Fleet: f, BaseURL: "http://h", Observe: func(e wire.Event) { seen <- e.Fault }})
	for want := range uint8(3) {
		if got := <-seen; got != want {
			t.Errorf("event %d came in place of %d", got, want)
		}
	}
}

func TestTheEndCutsOffThousands(t *testing.T) {
	const clients = 2000
	arrived := make(chan struct{}, clients)
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer s.Close()
	v := newVolleys(clients, 1, wire.Post)
	d, stop := begin(t, Config{Fleet: v, BaseURL: s.URL, Clients: clients})
	for range clients {
		<-arrived
	}
	if d.InFlight() != clients {
		t.Errorf("%d in flight, want %d", d.InFlight(), clients)
	}
	began := time.Now()
	stop()
	t.Logf("the end took %v", time.Since(began))
	if d.InFlight() != 0 || len(v.fedSoFar(fleet.Answered)) != 0 {
		t.Errorf("%d in flight, %d answered after the end", d.InFlight(),
			len(v.fedSoFar(fleet.Answered)))
	}
}

func TestTheEndCutsOffDials(t *testing.T) {
	v := newVolleys(100, 1, wire.Get)
	d, err := New(Config{
		Fleet: v, Clock: NewClock(), BaseURL: "http://h", Routes: []string{"/"}, Clients: 100,
	})
	if err != nil {
		t.Fatal(err)
	}
	dialing := make(chan struct{}, 100)
	d.sender.transport.DialContext = dialWith(
		func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialing <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		})
	stop := runIt(t, d)
	for range 100 {
		<-dialing
	}
	stop()
}

func TestARunEndsOnce(t *testing.T) {
	d, stop := begin(t, Config{Fleet: &script{}, BaseURL: "http://h"})
	stop()
	if err := d.Do(fleet.Input{Kind: fleet.Set}); !errors.Is(err, ErrEnded) {
		t.Errorf("Do after the end: %v", err)
	}
	if err := d.Run(context.Background()); err == nil {
		t.Error("a run can be had twice")
	}
}

func TestAHandBeforeTheRunIsItsFirstInput(t *testing.T) {
	f := &script{}
	d, err := New(Config{Fleet: f, Clock: NewClock(), BaseURL: "http://h", Clients: 1})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	f.on = func(_ clock.Instant, in fleet.Input) []engine.Effect {
		if in.Kind == fleet.Set {
			close(done)
		}
		return nil
	}
	if err := d.Do(fleet.Input{Kind: fleet.Set}); err != nil {
		t.Fatal(err)
	}
	runIt(t, d)
	<-done
	if got := f.fedSoFar(fleet.Set); got[0].at != 0 {
		t.Errorf("fed at %v, want 0", got[0].at)
	}
}

// TestWhatAPauseKeptIsSentWhenItEnds ends pauses at any point of the owner's
// turn: one that it overlooked would leave the attempt unsent for good.
func TestWhatAPauseKeptIsSentWhenItEnds(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	answered := make(chan struct{}, 1)
	f := &script{}
	f.on = func(_ clock.Instant, in fleet.Input) []engine.Effect {
		switch in.Kind {
		case fleet.Set:
			a := attemptOf(1, wire.Get)
			a.ID.Request = wire.RequestID(in.Value)
			return []engine.Effect{sendOf(a)}
		case fleet.Answered:
			answered <- struct{}{}
		}
		return nil
	}
	c := NewClock()
	d, _ := begin(t, Config{Fleet: f, Clock: c, BaseURL: s.URL})
	for i := range 1000 {
		c.Pause()
		d.Do(fleet.Input{Kind: fleet.Set, Value: int64(i)})
		for range i % 50 {
			runtime.Gosched()
		}
		c.Resume()
		<-answered
	}
}

// TestHandsFromEverywhere has many goroutines use everything at once, for the
// race detector.
func TestHandsFromEverywhere(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer s.Close()
	c := NewClock()
	v := newVolleys(20, 20, wire.Get)
	d, _ := begin(t, Config{Fleet: v, Clock: c, BaseURL: s.URL, Clients: 20})
	hands := make(chan error, 4)
	for range cap(hands) {
		go func() {
			for i := range 100 {
				c.Pause()
				if err := d.Do(fleet.Input{Kind: fleet.Set, Value: int64(i)}); err != nil {
					hands <- fmt.Errorf("hand %d: %w", i, err)
					return
				}
				_, _, _ = d.Lag(), d.Notice(), d.InFlight()
				c.Resume()
			}
			hands <- nil
		}()
	}
	for range cap(hands) {
		if err := <-hands; err != nil {
			t.Error(err)
		}
	}
	<-v.done
}
