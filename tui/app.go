package tui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"herdscope/engine/metrics"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/page"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// App is the root model of the screen.
type App struct {
	opener Opener
	src    Source
	keys   keymap.Map
	pages  []page.Page
	at     int

	// view is what is shown; it stands still while the view is frozen.
	view    page.View
	overlay page.Overlay
	opening *opening
	watched metrics.Watch
	span    int

	w, h    int
	frame   string
	stale   bool
	canvas  *widget.Canvas
	tabs    []tab
	tick    time.Duration
	message message

	frozen bool
	asking bool
	mouse  bool
	// resume says that the run was paused only because of a suspension.
	resume bool
	// quit says that the hand asked to leave, aborted that the run was not over.
	quit, aborted bool
}

// message is one line of news in the footer. It stays until the next key.
type message struct {
	text string
	role theme.Role
}

// frameMsg is the tick of frames.
type frameMsg struct{}

// spans are the lengths of time that charts can show.
var spans = []time.Duration{
	5 * time.Second, 10 * time.Second, page.DefaultSpan, 40 * time.Second, time.Minute,
	2 * time.Minute, 5 * time.Minute, 10 * time.Minute,
}

// usualSpan is the index of page.DefaultSpan.
const usualSpan = 2

// NewApp makes the screen of a first run.
func NewApp(opener Opener, first Source, o Options) *App {
	a := &App{
		opener: opener, src: first, pages: page.Pages(), span: usualSpan,
		canvas: widget.NewCanvas(theme.New(o.Theme)), tick: time.Second / time.Duration(o.fps()),
		mouse: !o.NoMouse, stale: true,
	}
	var titles []string
	for _, p := range a.pages {
		titles = append(titles, p.Title())
	}
	a.keys = keymap.New(titles)
	a.view.Tune = &page.Tune{}
	a.refresh()
	return a
}

// Init starts the tick of frames.
func (a *App) Init() tea.Cmd { return a.nextFrame() }

func (a *App) nextFrame() tea.Cmd {
	return tea.Tick(a.tick, func(time.Time) tea.Msg { return frameMsg{} })
}

// Update handles one message.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case frameMsg:
		a.refresh()
		return a, a.nextFrame()
	case tea.WindowSizeMsg:
		a.w, a.h, a.stale = msg.Width, msg.Height, true
	case tea.KeyMsg:
		return a, a.onKeys(msg)
	case tea.MouseMsg:
		a.onMouse(msg)
	case openedMsg:
		a.onOpened(msg)
	case tea.ResumeMsg:
		return a, a.onResume()
	}
	return a, nil
}

// View is the frame. It is drawn only if something has changed since the last.
func (a *App) View() string {
	if a.stale {
		a.frame, a.stale = a.draw(), false
	}
	return a.frame
}

// refresh reads the source, unless the view is frozen.
func (a *App) refresh() {
	a.view.Span = spans[a.span]
	a.watch()
	snap, status := a.src.Latest(), a.src.Status()
	if a.frozen {
		a.refreshFrozen(status)
		return
	}
	status.Elapsed -= status.Elapsed % 100e6 // The frame shows tenths of a second.
	if snap == a.view.Snap && sameStatus(status, a.view.Status) && !a.stale {
		return
	}
	a.view.Snap, a.view.Status = snap, status
	a.readScenario()
	a.stale = true
}

// refreshFrozen shows whether the run goes on, and nothing else that is new.
func (a *App) refreshFrozen(now Status) {
	s := &a.view.Status
	if s.Paused != now.Paused || s.Done != now.Done {
		s.Paused, s.Done, a.stale = now.Paused, now.Done, true
	}
}

// readScenario reads the settings as they are now.
func (a *App) readScenario() {
	a.view.Scenario = a.src.Scenario()
	a.view.Knobs = page.Knobs(a.view.Knobs, a.view.Scenario, a.view.Status.Foreign)
}

// sameStatus compares all but the error's value: it may be of a kind that
// cannot be compared.
func sameStatus(s, t Status) bool {
	if (s.Err == nil) != (t.Err == nil) {
		return false
	}
	s.Err, t.Err = nil, nil
	return s == t
}

// watch tells the source what the page wants to see, if that has changed.
func (a *App) watch() {
	if a.view.Snap == nil || a.w == 0 {
		return
	}
	w, h := a.bodySize()
	want := a.page().Watch(w, h, a.view)
	if want != a.watched {
		a.watched = want
		a.src.Watch(want)
	}
}

func (a *App) page() page.Page { return a.pages[a.at] }

// act applies an action to the run and says what became of it.
func (a *App) act(action scenarios.Action) {
	if a.opening != nil {
		a.complain("not while another run is being opened")
		return
	}
	if err := a.src.Do(action); err != nil {
		a.complain(err.Error())
		return
	}
	a.readScenario()
}

func (a *App) complain(text string) { a.message = message{text, theme.Bad} }

func (a *App) tell(text string) { a.message = message{text, theme.Accent} }
