// Package keymap holds all key bindings as data: what a key does, in which
// group of the help it stands, and whether the footer names it. Help, footer and
// palette are derived from it, so that no binding can be missing in them.
//
// The package imports nothing of this module.
package keymap

import (
	"strconv"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// Command is something that a key, the palette or the mouse asks for.
type Command uint8

// The commands.
const (
	// None is what an unknown key asks for.
	None Command = iota
	Quit
	Suspend
	Help
	Palette
	Back
	ShowPage // Arg is the page's index
	NextPage
	PrevPage

	Pause
	Again
	Open
	Mode
	Save
	Faults

	Freeze
	Longer
	Shorter
	AutoSpan
	Panel
	Filter
	NextRows
	PrevRows
	Mouse

	Up
	Down
	Less
	More
	MuchLess
	MuchMore
	First
	Last
	PageUp
	PageDown
	Enter
	Undo
	Ageing

	FaultNow
	FaultOn
	FaultOff
	FaultAuto
)

// Binding is the keys of one command and what the help says of it.
type Binding struct {
	key.Binding
	Command Command
	Arg     int
	Group   string
	// Footer names the command in the footer, in one or two words; empty if it
	// is not shown there.
	Footer string
}

func bind(c Command, group, footer, keys, doc string, names ...string) Binding {
	return Binding{
		Binding: key.NewBinding(key.WithKeys(names...), key.WithHelp(keys, doc)),
		Command: c, Group: group, Footer: footer,
	}
}

// The groups of bindings, in the order in which the help shows them.
const (
	Running = "The run"
	Tuning  = "Tuning"
	Viewing = "The view"
	Paging  = "Pages"
	Program = "The program"
	Listing = "In lists, help and the palette"
	Faulty  = "In the fault list"
)

// Map is the bindings of the screen.
type Map struct {
	screen []Binding
	list   []Binding
	fault  []Binding
}

// New makes the bindings for a screen with the given pages, one digit each.
func New(pages []string) Map {
	m := Map{screen: screenBindings(), list: listBindings(), fault: faultBindings()}
	for i, title := range pages {
		n := strconv.Itoa(i + 1)
		b := bind(ShowPage, Paging, "", n, title, n)
		b.Arg = i
		m.screen = append(m.screen, b)
	}
	m.screen = append(m.screen,
		bind(NextPage, Paging, "", "tab", "the next page", "tab"),
		bind(PrevPage, Paging, "", "shift+tab", "the page before", "shift+tab"))
	return m
}

func screenBindings() []Binding {
	return []Binding{
		bind(Pause, Running, "pause", "space", "pause the run, and let it go on", " "),
		bind(Faults, Running, "faults", "x", "faults: switch one on, off, or on for its length", "x"),
		bind(Open, Running, "open", "o", "open another scenario", "o"),
		bind(Again, Running, "again", "r", "run the scenario again from the start, as it is now", "r"),
		bind(Mode, Running, "live/virtual", "v", "change between live (real HTTP) and virtual time", "v"),
		bind(Save, Running, "save", "s", "save the scenario with what was done so far", "s"),

		bind(Up, Tuning, "", "k ↑", "select the setting above", "k", "up"),
		bind(Down, Tuning, "", "j ↓", "select the setting below", "j", "down"),
		bind(Less, Tuning, "", "h ←", "less, or the choice before", "h", "left"),
		bind(More, Tuning, "tune", "l →", "more, or the next choice", "l", "right"),
		bind(MuchLess, Tuning, "", "H shift+←", "less by five steps", "H", "shift+left"),
		bind(MuchMore, Tuning, "", "L shift+→", "more by five steps", "L", "shift+right"),
		bind(First, Tuning, "", "g home", "select the first setting", "g", "home"),
		bind(Last, Tuning, "", "G end", "select the last setting", "G", "end"),
		bind(PageUp, Tuning, "", "ctrl+u pgup", "ten settings up", "ctrl+u", "pgup"),
		bind(PageDown, Tuning, "", "ctrl+d pgdn", "ten settings down", "ctrl+d", "pgdown"),
		bind(Enter, Tuning, "", "enter", "type a value for the selected setting", "enter"),
		bind(Ageing, Tuning, "ageing", "A", "queues: serve by age, or as before; u takes it back", "A"),
		bind(Undo, Tuning, "undo", "u", "take back the last change of a setting", "u"),

		bind(Freeze, Viewing, "freeze", "f", "freeze the view; the run goes on", "f"),
		bind(Shorter, Viewing, "", "+ =", "show less time, with more detail", "+", "="),
		bind(Longer, Viewing, "", "- _", "show more time", "-", "_"),
		bind(AutoSpan, Viewing, "", "a", "the usual length of time", "a"),
		bind(Panel, Viewing, "next panel", "z", "one panel alone, then the next; esc shows all", "z"),
		bind(Filter, Viewing, "filter", "b", "breakers: all, not closed, probing, or ever opened", "b"),
		bind(NextRows, Viewing, "", "]", "breakers: the next of them", "]"),
		bind(PrevRows, Viewing, "", "[", "breakers: those before", "["),
		bind(Mouse, Viewing, "", "m", "leave the mouse to the terminal, to select text", "m"),

		bind(Palette, Program, "palette", ": ctrl+p", "find any action by typing", ":", "ctrl+p"),
		bind(Help, Program, "help", "?", "this help", "?"),
		bind(Back, Program, "", "esc", "one level up", "esc"),
		bind(Suspend, Program, "", "ctrl+z", "back to the shell; the run pauses until fg", "ctrl+z"),
		bind(Quit, Program, "quit", "q ctrl+c", "quit; asks once while a run goes on", "q", "ctrl+c"),
	}
}

func listBindings() []Binding {
	return []Binding{
		bind(Up, Listing, "", "↑ k ctrl+p", "up (k is text in the palette)", "up", "k", "ctrl+p"),
		bind(Down, Listing, "", "↓ j ctrl+n", "down (j is text in the palette)", "down", "j", "ctrl+n"),
		bind(PageUp, Listing, "", "pgup ctrl+u", "ten lines up", "pgup", "ctrl+u"),
		bind(PageDown, Listing, "", "pgdn ctrl+d", "ten lines down", "pgdown", "ctrl+d"),
		bind(First, Listing, "", "home g", "to the top", "home", "g"),
		bind(Last, Listing, "", "end G", "to the end", "end", "G"),
		bind(Enter, Listing, "", "enter", "do what is selected", "enter"),
		bind(Back, Listing, "", "esc q", "close (q is text in the palette)", "esc", "q"),
	}
}

func faultBindings() []Binding {
	return []Binding{
		bind(FaultNow, Faulty, "now, for its length", "n enter", "begin one window of the fault now", "n", "enter"),
		bind(FaultOn, Faulty, "on", "o", "hold the fault on", "o"),
		bind(FaultOff, Faulty, "off", "x", "hold the fault off", "x"),
		bind(FaultAuto, Faulty, "by schedule", "a", "give the fault back to its schedule", "a"),
	}
}

// Screen is what a key means on a page.
func (m Map) Screen(k tea.KeyMsg) Binding { return find(m.screen, k) }

// List is what a key means in a list.
func (m Map) List(k tea.KeyMsg) Binding { return find(m.list, k) }

// Fault is what a key means in the fault list, apart from moving in it.
func (m Map) Fault(k tea.KeyMsg) Binding { return find(m.fault, k) }

func find(bs []Binding, k tea.KeyMsg) Binding {
	if k.Paste {
		return Binding{}
	}
	for _, b := range bs {
		if key.Matches(k, b.Binding) {
			return b
		}
	}
	return Binding{}
}

// Commands lists the bindings that work on a page.
func (m Map) Commands() []Binding { return m.screen }

// FaultCommands lists the bindings of the fault list.
func (m Map) FaultCommands() []Binding { return m.fault }

// All lists every binding there is, group by group in the help's order.
func (m Map) All() []Binding {
	all := append(append(append([]Binding{}, m.screen...), m.list...), m.fault...)
	sorted := make([]Binding, 0, len(all))
	for _, g := range []string{Running, Tuning, Viewing, Paging, Program, Listing, Faulty} {
		for _, b := range all {
			if b.Group == g {
				sorted = append(sorted, b)
			}
		}
	}
	return sorted
}

// footer is what the footer names, the most needed first.
var footer = []Command{Help, Quit, Pause, Freeze, More, Faults, Open, Again, Mode, Save, Undo, Palette}

// Footer lists the bindings that the footer names, the most needed first.
func (m Map) Footer() []Binding {
	fs := make([]Binding, 0, len(footer))
	for _, c := range footer {
		fs = append(fs, m.Of(c))
	}
	return fs
}

// Of is the first binding of a command on a page.
func (m Map) Of(c Command) Binding {
	for _, b := range m.screen {
		if b.Command == c {
			return b
		}
	}
	return Binding{}
}

// FooterHint is the key and the word that the footer shows.
func (b Binding) FooterHint() (key, text string) {
	switch b.Command {
	case Pause:
		return "space", b.Footer
	case More:
		return "hjkl", b.Footer
	}
	return b.Keys()[0], b.Footer
}
