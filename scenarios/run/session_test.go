package run

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/metrics"
	"herdscope/engine/wire"
	"herdscope/scenarios"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

// until waits for something that a session's own goroutine brings about.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(30 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited 30 s in vain until %s", what)
		}
	}
}

func open(t *testing.T, s scenarios.Scenario, live bool) *Session {
	t.Helper()
	session, err := Open(s, Options{Live: live})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	return session
}

func setTo(knob string, value int64) scenarios.Action {
	return scenarios.Action{Kind: scenarios.SetKnob, Knob: knob, Value: value}
}

func TestSessionShowsWhatIsDone(t *testing.T) {
	s := open(t, builtin(t, "restart"), false)
	if err := s.Do(setTo("retry.jitter", 1)); err != nil {
		t.Fatal(err)
	}
	until(t, "the change is in a snapshot", func() bool { return s.Latest().Changed })
	if v, _ := s.Scenario().Value("retry.jitter"); v != 1 {
		t.Errorf("retry.jitter is %d", v)
	}
	back, ok := s.Undo()
	if !ok || back.Value != 0 || back.Knob != "retry.jitter" {
		t.Errorf("Undo = %v, %v", back, ok)
	}
	if v, _ := s.Scenario().Value("retry.jitter"); v != 0 {
		t.Errorf("after Undo retry.jitter is %d", v)
	}
	if _, ok := s.Undo(); ok {
		t.Error("there is more to undo than was done")
	}
}

// TestPresetIsTakenBackWhole: a preset changes many settings, and u brings all of
// them back.
func TestPresetIsTakenBackWhole(t *testing.T) {
	s := open(t, builtin(t, "restart"), false)
	before := s.Scenario()
	if err := s.Do(setTo("retry.preset", 6)); err != nil {
		t.Fatal(err)
	}
	if s.Scenario().Fleet.Policy == before.Fleet.Policy {
		t.Fatal("the preset changes nothing")
	}
	if back, ok := s.Undo(); !ok || back.Knob != "retry.preset" || back.Value != 0 {
		t.Errorf("Undo = %v, %v", back, ok)
	}
	if diff := cmp.Diff(before.Fleet, s.Scenario().Fleet); diff != "" {
		t.Errorf("after Undo (-was +is):\n%s", diff)
	}
}

func TestSessionRefusesWhatMakesNoSense(t *testing.T) {
	s := open(t, builtin(t, "restart"), false)
	for _, a := range []scenarios.Action{
		setTo("retry.jittr", 1), setTo("retry.attempts", 0), setTo("fleet.clients", 5),
		setTo("retry.cap", 1), {Kind: scenarios.DoFault, Fault: "restrat", Do: wire.FaultOn},
	} {
		if err := s.Do(a); err == nil {
			t.Errorf("%v is done", a)
		}
	}
	if _, ok := s.Undo(); ok {
		t.Error("what was refused can be undone")
	}
}

func TestPauseStopsTheRunClock(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := open(t, builtin(t, "restart", "fleet.clients", "20"), live)
		until(t, "time passes", func() bool { return s.Status().Elapsed > clock.Instant(50*time.Millisecond) })
		s.Pause(true)
		until(t, "it is paused", func() bool { return s.Status().Paused })
		var at clock.Instant
		until(t, "the clock stands", func() bool {
			before := at
			at = s.Status().Elapsed
			time.Sleep(70 * time.Millisecond) // a snapshot or two
			return at == before
		})
		attempts := s.Latest().Attempts
		s.Pause(false)
		until(t, "time passes again", func() bool { return s.Status().Elapsed > at.Add(300*time.Millisecond) })
		if s.Latest().Attempts < attempts {
			t.Error("attempts were lost in the pause")
		}
	}
}

func TestFaultByHand(t *testing.T) {
	for _, live := range []bool{false, true} {
		s := open(t, builtin(t, "restart", "fleet.clients", "50", "fault.restart.start", "1h"), live)
		until(t, "it runs", func() bool { return s.Latest().Requests > 0 })
		do := scenarios.Action{Kind: scenarios.DoFault, Fault: "restart", Do: wire.FaultNow}
		if err := s.Do(do); err != nil {
			t.Fatal(err)
		}
		until(t, "the outage has reset somebody", func() bool {
			f := s.Latest().Faults
			return len(f) == 1 && f[0].On && f[0].Hits > 0
		})
		if s.Latest().Changed {
			t.Error("a fault by hand is taken for a change of a setting")
		}
		do.Do = wire.FaultOff
		if err := s.Do(do); err != nil {
			t.Fatal(err)
		}
		until(t, "a fault that is held off announces no window", func() bool {
			f := s.Latest().Faults[0]
			return !f.On && f.Hand == wire.FaultOff && f.Next == clock.Never
		})
	}
}

// TestSavedRunReplaysExactly: what was done by hand is saved with its instants,
// and the file gives the same run again.
func TestSavedRunReplaysExactly(t *testing.T) {
	t.Chdir(t.TempDir())
	s := open(t, builtin(t, "restart", "fault.restart.start", "200ms", "retry.base", "100ms"), false)
	until(t, "it runs", func() bool { return s.Status().Elapsed > clock.Instant(100*time.Millisecond) })
	if err := s.Do(setTo("retry.jitter", 1)); err != nil {
		t.Fatal(err)
	}
	until(t, "the change is in", func() bool { return s.Status().Elapsed > clock.Instant(400*time.Millisecond) })
	name, err := s.Save()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want := s.Result().Summary
	saved, err := scenarios.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	if len(saved.Timeline) != 1 {
		t.Fatalf("%d actions saved, want 1", len(saved.Timeline))
	}
	saved.Duration, saved.Drain = want.Duration, 0
	if diff := cmp.Diff(want, runVirtual(t, saved).Summary); diff != "" {
		t.Errorf("the saved run is another one (-was +is):\n%s", diff)
	}
	if again, err := s.Save(); err != nil || again == name {
		t.Errorf("saved again as %q, %v; want another name", again, err)
	}
}

func TestSaveSaysWhyItCannot(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	s := open(t, builtin(t, "restart"), false)
	if err := os.Remove(dir); err != nil {
		t.Skipf("cannot take the directory away: %v", err)
	}
	if name, err := s.Save(); err == nil {
		t.Errorf("saved as %s in a directory that is gone", name)
	}
}

func TestClosedSessionTakesNoActions(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, live := range []bool{false, true} {
		s, err := Open(builtin(t, "restart", "fleet.clients", "30"), Options{Live: live})
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(s.Close(), s.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := s.Do(setTo("retry.jitter", 1)); !errors.Is(err, ErrEnded) {
			t.Errorf("Do after Close: %v", err)
		}
		if v, _ := s.Scenario().Value("retry.jitter"); v != 0 {
			t.Error("what a closed session refuses changes its scenario")
		}
		if !s.Status().Done {
			t.Error("a closed session is not done")
		}
	}
}

// bomb is an observer that panics at an event of its kind.
type bomb struct{ kind wire.EventKind }

func (b bomb) Observe(e wire.Event) {
	if e.Kind == b.kind {
		panic("bomb")
	}
}

// TestPanicEndsTheRunAndSaysSo: wherever it happens, in the run's goroutine, the
// fleet's or the server's.
func TestPanicEndsTheRunAndSaysSo(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, live := range []bool{false, true} {
		for _, kind := range []wire.EventKind{wire.AttemptSent, wire.ServerArrived} {
			options := Options{Live: live, Observers: []wire.Observer{bomb{kind}}}
			s, err := Open(builtin(t, "restart", "fleet.clients", "20"), options)
			if err != nil {
				t.Fatal(err)
			}
			until(t, "the run has ended", func() bool { return s.Status().Done })
			if err := s.Status().Err; err == nil || !strings.Contains(err.Error(), "panicked: bomb") {
				t.Errorf("live %v, %v: the run ended with %v", live, kind, err)
			}
			_ = s.Close() // tells the same again
		}
	}
}

// TestSnapshotsAreSoundUnderActions watches a session while settings change.
func TestSnapshotsAreSoundUnderActions(t *testing.T) {
	s := open(t, builtin(t, "starvation"), false)
	s.Watch(metrics.Watch{RasterRows: 6, RasterCols: 40})
	var seq uint64
	for i := range 40 {
		if err := s.Do(setTo("queue.limit", int64(1+i%8))); err != nil {
			t.Fatal(err)
		}
		until(t, "there is a new snapshot", func() bool { return s.Latest().Seq > seq })
		last := s.Latest()
		seq = last.Seq
		if err := last.Check(); err != nil {
			t.Fatal(err)
		}
	}
}
