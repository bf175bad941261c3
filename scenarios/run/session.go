package run

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"herdscope/engine/clock"
	"herdscope/engine/fleet"
	"herdscope/engine/metrics"
	"herdscope/scenarios"
)

// Session is a run that a screen watches and steers. Its methods return at once
// and may be called from any goroutine; the run itself has one of its own.
type Session struct {
	live    bool
	foreign bool
	runner  runner
	hub     *hub
	latest  atomic.Pointer[metrics.Snapshot]
	status  atomic.Pointer[Status]

	commands chan func()
	quit     chan struct{}
	done     chan struct{}
	closing  sync.Once
	closed   error

	mu       sync.Mutex // guards what follows
	scenario scenarios.Scenario
	began    scenarios.Scenario // as it was at the start
	actions  []scenarios.Action
	undo     []change
	paused   bool
}

// runner is a run in virtual time or over the wall clock.
type runner interface {
	doer
	// advance lets the run go on to where the wall clock says, or until.
	advance(until clock.Instant) error
	pause(bool)
	// look calls a function with the fleet when nobody else touches that. It must
	// change nothing.
	look(func(clock.Instant, *fleet.Fleet))
	condition() condition
	close() error
}

// condition is how a run fares against the wall clock.
type condition struct {
	speed  float64
	notice string
	target string
}

// Status is what a screen shows of a run beside the numbers.
type Status struct {
	Live bool
	// Foreign says that the clients are not ours.
	Foreign bool
	Paused  bool
	Done    bool
	Seed    uint64
	Elapsed clock.Instant
	Speed   float64
	Notice  string
	Target  string
	Err     error
}

// ErrEnded says that a run is over and takes no more actions.
var ErrEnded = errors.New("the run is over")

// frame is how often a session publishes a snapshot: a little faster than a
// screen draws.
const frame = 30 * time.Millisecond

// Open begins a run of s that goes on until Close.
func Open(s scenarios.Scenario, o Options) (*Session, error) {
	session := &Session{
		live: o.Live || o.Foreign != nil, scenario: s, began: s,
		commands: make(chan func(), 64), quit: make(chan struct{}), done: make(chan struct{}),
	}
	if err := session.start(o); err != nil {
		return nil, err
	}
	session.publish(nil)
	timeline := s.Timeline
	if session.foreign {
		timeline = nil
	}
	go session.loop(newScript(timeline))
	return session, nil
}

func (s *Session) start(o Options) error {
	if o.Foreign != nil {
		return s.startForeign(o)
	}
	if o.Live {
		l, err := startLive(s.scenario, o)
		if err != nil {
			return err
		}
		s.runner, s.hub = l, l.hub
		return nil
	}
	v, err := startVirtual(s.scenario, o)
	if err != nil {
		return err
	}
	s.runner, s.hub = v, v.hub
	return nil
}

// loop is the run's goroutine: it lets the run advance, does what the timeline
// and the screen ask, and publishes what there is to see.
func (s *Session) loop(todo script) {
	defer close(s.done)
	s.finish(sound("run", func() error { return s.turn(&todo) }))
}

// turn turns until quit, or until the run fails.
func (s *Session) turn(todo *script) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-s.quit:
			return nil
		case command := <-s.commands:
			command()
		case <-timer.C:
			timer.Reset(s.untilNext(todo.next()))
		}
		if err := s.advance(todo); err != nil {
			return err
		}
		s.survey()
		s.publish(nil)
	}
}

// untilNext is how long the loop may sleep: a frame, or less if the timeline
// has something before that.
func (s *Session) untilNext(action clock.Instant) time.Duration {
	return max(time.Millisecond, min(frame, action.Sub(s.runner.now())))
}

// advance goes on to the present, stopping at each action of the timeline.
func (s *Session) advance(todo *script) error {
	if err := s.runner.advance(todo.next()); err != nil {
		return err
	}
	for {
		a, ok := todo.due(s.runner.now())
		if !ok {
			return nil
		}
		if err := s.apply(a); err != nil {
			return fmt.Errorf("timeline at %v: %w", a.At.Duration(), err)
		}
	}
}

// apply does an action now, in the run's goroutine.
func (s *Session) apply(a scenarios.Action) error {
	s.mu.Lock()
	in, err := translate(&s.scenario, a)
	after := s.scenario
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return carryOut(s.runner, s.hub, a, in, after)
}

func (s *Session) finish(err error) {
	s.publish(err)
	status := *s.status.Load()
	status.Done = true
	s.status.Store(&status)
}

// publish makes the present state visible to the screen.
func (s *Session) publish(err error) {
	now := s.runner.now()
	snapshot := s.hub.snapshot(now)
	s.latest.Store(snapshot)
	s.mu.Lock()
	paused, seed := s.paused, s.scenario.Seed
	s.mu.Unlock()
	c := s.runner.condition()
	s.status.Store(&Status{
		Live: s.live, Foreign: s.foreign, Paused: paused, Seed: seed, Elapsed: now,
		Speed: c.speed, Notice: notice(snapshot, c), Target: c.target, Err: err,
	})
}

// Scenario is what is being run, with all knobs as they are now.
func (s *Session) Scenario() scenarios.Scenario {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scenario
}

// Status is how the run fares.
func (s *Session) Status() Status { return *s.status.Load() }

// Latest is the newest snapshot.
func (s *Session) Latest() *metrics.Snapshot { return s.latest.Load() }

// Watch says what the snapshots should hold in detail.
func (s *Session) Watch(w metrics.Watch) { s.hub.watch(w) }

// Do applies an action now, whatever its At says. It fails if the action makes
// no sense in this run, or the run is over.
func (s *Session) Do(a scenarios.Action) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.scenario
	if err := s.record(a); err != nil {
		return err
	}
	if back := difference(&before, &s.scenario); len(back) > 0 {
		s.undo = append(s.undo, change{a.Knob, back})
	}
	return nil
}

// change is something that was done, and what takes it back. One knob may have
// changed others, as a preset does.
type change struct {
	knob string
	back []scenarios.Action
}

// difference is the actions that give the knobs of after the values that they
// had before: the preset first, since it changes others.
func difference(before, after *scenarios.Scenario) []scenarios.Action {
	var back []scenarios.Action
	for _, k := range append(scenarios.Settings(), before.ScopeSettings()...) {
		was, errWas := before.Value(k.Name)
		is, errIs := after.Value(k.Name)
		if errWas != nil || errIs != nil || was == is {
			continue
		}
		a := scenarios.Action{Kind: scenarios.SetKnob, Knob: k.Name, Value: was}
		if k.Name == fleet.PresetKnob {
			back = append([]scenarios.Action{a}, back...)
		} else {
			back = append(back, a)
		}
	}
	return back
}

// record checks an action, sends it to the run, and remembers it. An action that
// is refused, by the scenario or by the run, leaves the scenario as it was.
func (s *Session) record(a scenarios.Action) error {
	after := s.scenario
	in, err := translate(&after, a)
	if err == nil {
		in, err = s.hub.placed(a, in)
	}
	if err == nil && s.foreign && !in.toServer {
		err = fmt.Errorf("%s: %w", a.Knob, errForeign)
	}
	if err != nil {
		return err
	}
	err = s.send(func() {
		a.At = s.runner.now()
		if carryOut(s.runner, s.hub, a, in, after) == nil {
			s.remember(a)
		}
	})
	if err == nil {
		s.scenario = after
	}
	return err
}

func (s *Session) remember(a scenarios.Action) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.actions = append(s.actions, a)
}

// send hands a command to the run's goroutine.
func (s *Session) send(command func()) error {
	select {
	case <-s.done:
		return ErrEnded
	default:
	}
	select {
	case s.commands <- command:
		return nil
	default:
		return errors.New("too many changes at once; try again")
	}
}

// Undo takes back the last change of a knob and returns what it did; false if
// there is none to take back.
func (s *Session) Undo() (scenarios.Action, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.undo) == 0 {
		return scenarios.Action{}, false
	}
	last := s.undo[len(s.undo)-1]
	s.undo = s.undo[:len(s.undo)-1]
	s.takeBack(last.back)
	value, err := s.scenario.Value(last.knob)
	return scenarios.Action{Kind: scenarios.SetKnob, Knob: last.knob, Value: value}, err == nil
}

// takeBack does the actions in an order in which the knobs agree with each other
// all the time: a cap, say, must be raised before the base that it is to bound.
func (s *Session) takeBack(todo []scenarios.Action) {
	for len(todo) > 0 {
		var refused []scenarios.Action
		for _, a := range todo {
			if s.record(a) != nil {
				refused = append(refused, a)
			}
		}
		if len(refused) == len(todo) {
			return // the run is over
		}
		todo = refused
	}
}

// Pause stops the run clock, or lets it go on.
func (s *Session) Pause(paused bool) {
	if s.foreign {
		return // clients that are not ours cannot be held
	}
	s.mu.Lock()
	s.paused = paused
	s.mu.Unlock()
	_ = s.send(func() { s.runner.pause(paused) }) // a run that is over is paused anyway
}

// Save writes the scenario with all actions so far to a new file in the working
// directory, and returns its name.
func (s *Session) Save() (string, error) {
	s.mu.Lock()
	saved := s.began.WithActions(s.actions)
	if s.foreign {
		saved = s.scenario // with the faults that came through the admin API
	}
	s.mu.Unlock()
	text, err := saved.YAML()
	if err != nil {
		return "", fmt.Errorf("save: %w", err)
	}
	name := scenarios.FileName(saved, func(name string) bool {
		_, err := os.Lstat(name)
		return err == nil
	})
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return "", fmt.Errorf("save: %w", err)
	}
	if _, err := file.Write(text); err != nil {
		return "", errors.Join(fmt.Errorf("save %s: %w", name, err), file.Close())
	}
	return name, file.Close()
}

// Result is what the run has shown so far.
func (s *Session) Result() Result {
	at := s.Status().Elapsed
	return Result{
		Scenario: s.Scenario(), Live: s.live,
		Summary: s.hub.summary(at), Faults: s.Latest().Faults,
	}
}

// Close ends the run and waits for it. It may be called more than once.
func (s *Session) Close() error {
	s.closing.Do(func() {
		close(s.quit)
		<-s.done
		s.closed = s.runner.close()
	})
	return s.closed
}
