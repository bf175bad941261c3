package tui

import (
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/page/pagetest"
	"herdscope/tui/theme"
)

// fakeSource is a run of the model whose clock only the test moves.
type fakeSource struct {
	mu      sync.Mutex
	run     *pagetest.Run
	snap    *metrics.Snapshot
	status  Status
	watched metrics.Watch
	did     []scenarios.Action
	err     error
	closed  int
}

func newFake(s scenarios.Scenario, live bool) *fakeSource {
	f := &fakeSource{run: pagetest.New(s), status: Status{Live: live, Seed: s.Seed, Speed: 1}}
	f.snap = f.run.Snapshot()
	return f
}

// advance moves the run and publishes a snapshot.
func (f *fakeSource) advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run.Advance(f.run.Now().Add(d))
	f.status.Elapsed = f.run.Now()
	f.snap = f.run.Snapshot()
}

func (f *fakeSource) Scenario() scenarios.Scenario { return f.run.Scenario() }

func (f *fakeSource) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

func (f *fakeSource) Latest() *metrics.Snapshot {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.snap
}

func (f *fakeSource) Watch(w metrics.Watch) { f.watched = w; f.run.Watch(w) }

func (f *fakeSource) Do(a scenarios.Action) error {
	f.did = append(f.did, a)
	if f.err != nil {
		return f.err
	}
	return f.run.Do(a)
}

func (f *fakeSource) Undo() (scenarios.Action, bool) { return f.run.Undo() }

func (f *fakeSource) Pause(p bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status.Paused = p
}

func (f *fakeSource) Save() (string, error) { return "restart-1.yaml", f.err }

func (f *fakeSource) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	f.status.Done = true
	return nil
}

// fakeOpener opens fakes and remembers them.
type fakeOpener struct {
	opened []*fakeSource
	err    error
	panics bool
}

func (o *fakeOpener) Open(s scenarios.Scenario, live bool) (Source, error) {
	if o.panics {
		panic("no")
	}
	if o.err != nil {
		return nil, o.err
	}
	f := newFake(s, live)
	o.opened = append(o.opened, f)
	return f, nil
}

func (o *fakeOpener) Library() []scenarios.Scenario {
	return []scenarios.Scenario{pagetest.Scenario(), pagetest.Gateway()}
}

var plain = Options{Theme: theme.Options{Profile: termenv.Ascii}}

// screen is an App with a fake run of some seconds, at 120x35.
type screen struct {
	*App
	t    *testing.T
	src  *fakeSource
	open *fakeOpener
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	src, open := newFake(pagetest.Scenario(), true), &fakeOpener{}
	src.advance(6 * time.Second)
	s := &screen{App: NewApp(open, src, plain), t: t, src: src, open: open}
	s.Update(tea.WindowSizeMsg{Width: 120, Height: 35})
	s.Update(frameMsg{})
	return s
}

// press sends keys, and what their commands answer.
func (s *screen) press(names ...string) (last tea.Msg) {
	for _, n := range names {
		_, cmd := s.Update(pagetest.Key(n))
		last = nil
		if cmd != nil {
			last = cmd()
			s.Update(last)
		}
	}
	return last
}

func (s *screen) shows(text string) {
	s.t.Helper()
	if got := s.View(); !strings.Contains(got, text) {
		s.t.Errorf("the screen does not show %q:\n%s", text, got)
	}
}

func (s *screen) hides(text string) {
	s.t.Helper()
	if got := s.View(); strings.Contains(got, text) {
		s.t.Errorf("the screen shows %q:\n%s", text, got)
	}
}
