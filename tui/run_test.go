package tui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/exp/teatest"

	"herdscope/scenarios"
	"herdscope/tui/page/pagetest"
)

// patience is how long a test waits for the program before it fails. Nothing
// depends on how long things really take.
const patience = 30 * time.Second

func TestSmokeSwitchAndQuit(t *testing.T) {
	src := newFake(pagetest.Scenario(), true)
	src.advance(6 * time.Second)
	tm := teatest.NewTestModel(t, NewApp(&fakeOpener{}, src, plain), teatest.WithInitialTermSize(100, 30))
	wait := func(text string) {
		teatest.WaitFor(t, tm.Output(), func(b []byte) bool { return bytes.Contains(b, []byte(text)) },
			teatest.WithDuration(patience))
	}
	wait("[1 Overview]")
	tm.Type("2")
	wait("[2 Herd]")
	tm.Type("?")
	wait("pause the run")
	tm.Send(pagetest.Key("esc"))
	tm.Type("q")
	wait("quit?")
	tm.Type("q")
	tm.WaitFinished(t, teatest.WithFinalTimeout(patience))
}

// runWith runs the whole program on some input and returns what it wrote.
func runWith(t *testing.T, ctx context.Context, src Source, open Opener, in io.Reader) (Result, string, error) {
	t.Helper()
	var out bytes.Buffer
	o := plain
	o.Input, o.Output = in, &out
	r, err := Run(ctx, open, src, o)
	return r, out.String(), err
}

func TestRunRestoresTheTerminal(t *testing.T) {
	src := newFake(pagetest.Scenario(), true)
	r, out, err := runWith(t, context.Background(), src, &fakeOpener{}, strings.NewReader("qq"))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Aborted || r.Source != Source(src) || src.closed != 1 || r.Snapshot == nil {
		t.Errorf("result %+v, closed %d times", r, src.closed)
	}
	checkRestored(t, out)
}

func checkRestored(t *testing.T, out string) {
	t.Helper()
	for _, pair := range [][2]string{
		{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}, {"\x1b[?1002h", "\x1b[?1002l"},
		{"\x1b[?2004h", "\x1b[?2004l"},
	} {
		on, off := strings.LastIndex(out, pair[0]), strings.LastIndex(out, pair[1])
		if on < 0 || off < on {
			t.Errorf("%q is not undone by %q", pair[0], pair[1])
		}
	}
}

// blocked is input that never comes.
func blocked(t *testing.T) io.Reader {
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	src := newFake(pagetest.Scenario(), true)
	time.AfterFunc(50*time.Millisecond, cancel)
	r, out, err := runWith(t, ctx, src, &fakeOpener{}, blocked(t))
	if err != nil || !r.Aborted || src.closed != 1 {
		t.Errorf("error %v, result %+v, closed %d times", err, r, src.closed)
	}
	checkRestored(t, out)
}

// panicking is a source that fails while the screen reads it.
type panicking struct {
	*fakeSource
	reads int
}

func (p *panicking) Status() Status {
	if p.reads++; p.reads == 3 {
		panic("the source is broken")
	}
	return p.fakeSource.Status()
}

func TestPanicRestoresTheTerminal(t *testing.T) {
	src := &panicking{fakeSource: newFake(pagetest.Scenario(), true)}
	_, out, err := runWith(t, context.Background(), src, &fakeOpener{}, blocked(t))
	if !errors.Is(err, tea.ErrProgramPanic) || src.closed != 1 {
		t.Errorf("error %v, closed %d times", err, src.closed)
	}
	checkRestored(t, out)
}

// slowOpener opens only when it is told to.
type slowOpener struct {
	fakeOpener
	started, goOn chan struct{}
}

func (o *slowOpener) Open(s scenarios.Scenario, live bool) (Source, error) {
	close(o.started)
	<-o.goOn
	return o.fakeOpener.Open(s, live)
}

// To leave while a run is being opened ends that run too.
func TestQuitWhileOpening(t *testing.T) {
	src := newFake(pagetest.Scenario(), true)
	open := &slowOpener{started: make(chan struct{}), goOn: make(chan struct{})}
	in, keys := io.Pipe()
	go func() {
		io.WriteString(keys, "r")
		<-open.started
		io.WriteString(keys, "qq")
		close(open.goOn)
	}()
	r, _, err := runWith(t, context.Background(), src, open, in)
	if err != nil {
		t.Fatal(err)
	}
	if src.closed != 1 || len(open.opened) != 1 || open.opened[0].closed != 1 || r.Source != Source(open.opened[0]) {
		t.Errorf("first closed %d times; opened %d", src.closed, len(open.opened))
	}
}
