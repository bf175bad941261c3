package page

import (
	"sort"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"herdscope/engine/knob"
	"herdscope/engine/wire"
	"herdscope/scenarios"
	"herdscope/tui/keymap"
	"herdscope/tui/theme"
	"herdscope/tui/widget"
)

// Palette finds any action by typing: commands, scenarios, settings, faults.
type Palette struct {
	keys  keymap.Map
	input line
	list  list
	all   []entry
	found []entry
}

// entry is one action.
type entry struct {
	text, key string
	request   Request
}

// NewPalette lists all actions that there are.
func NewPalette(m keymap.Map, library []scenarios.Scenario, v View) *Palette {
	p := &Palette{keys: m}
	for _, b := range m.Commands() {
		byPanel := b.Group == keymap.Tuning && b.Command != keymap.Undo && b.Command != keymap.Ageing
		if byPanel || b.Command == keymap.Palette {
			continue
		}
		p.all = append(p.all, entry{b.Help().Desc, b.Help().Key, Request{Kind: Run, Command: b.Command, Arg: b.Arg}})
	}
	for _, k := range v.Knobs {
		p.all = append(p.all, knobEntries(k)...)
	}
	for _, f := range v.Snap.Faults {
		for do, name := range wire.FaultDoNames() {
			r := doFault(f.Name, wire.FaultDo(do))
			r.Keep = false
			p.all = append(p.all, entry{"fault " + f.Name + " " + name, "", r})
		}
	}
	for i, s := range library {
		p.all = append(p.all, entry{"open " + s.Name + ": " + s.Title, "", Request{Kind: OpenScenario, Arg: i}})
	}
	p.filter(v)
	return p
}

// knobEntries is an entry for each choice of a setting, or one to type a value.
func knobEntries(k Knob) []entry {
	var values []int64
	switch k.Kind {
	case knob.Choice:
		for i := range k.Choices {
			values = append(values, int64(i))
		}
	case knob.Switch:
		values = []int64{0, 1}
	default:
		r := Request{Kind: Prompt, Action: scenarios.Action{Knob: k.Name}}
		return []entry{{"set " + k.Name + " …: " + k.Doc, "", r}}
	}
	var es []entry
	for _, v := range values {
		es = append(es, entry{"set " + k.Name + " = " + k.Format(v), "", set(k, v)})
	}
	return es
}

// Key edits what is typed, moves the selection, or does what is selected.
func (p *Palette) Key(k tea.KeyMsg, v View) Request {
	if k.Type != tea.KeyRunes && k.Type != tea.KeySpace {
		c := p.keys.List(k).Command
		switch {
		case k.Type == tea.KeyHome || k.Type == tea.KeyEnd || k.Type == tea.KeyCtrlU:
		case p.list.move(c, len(p.found)):
			return Request{}
		case c == keymap.Back:
			return Request{Kind: Close}
		case c == keymap.Enter:
			return p.chosen()
		}
	}
	p.input.edit(k)
	p.filter(v)
	return Request{}
}

func (p *Palette) chosen() Request {
	if len(p.found) == 0 {
		return Request{}
	}
	p.list.clamp(len(p.found))
	return p.found[p.list.at].request
}

// Scroll moves the selection.
func (p *Palette) Scroll(lines int, _ View) { p.list.move(scrollBy(lines), len(p.found)) }

// filter finds the actions that hold every word that is typed, the best matches
// first. Something like
// attempts=3 is an action by itself.
func (p *Palette) filter(v View) {
	text := strings.ToLower(strings.TrimSpace(p.input.value()))
	p.list = list{}
	p.found = nil
	if e, ok := assignment(text, v); ok {
		p.found = append(p.found, e)
	}
	words := strings.Fields(text)
	type match struct {
		entry
		at int
	}
	var ms []match
	for _, e := range p.all {
		if at, ok := matches(strings.ToLower(e.text), words); ok {
			ms = append(ms, match{e, at})
		}
	}
	sort.SliceStable(ms, func(i, j int) bool { return ms[i].at < ms[j].at })
	for _, m := range ms {
		p.found = append(p.found, m.entry)
	}
}

// apart is added to the place of a match whose words do not stand together, so
// that it comes after all whose do.
const apart = 1000

// matches says whether a text holds all words, and where: at its beginning is
// best.
func matches(text string, words []string) (int, bool) {
	if at := strings.Index(text, strings.Join(words, " ")); at >= 0 {
		return at, true
	}
	for _, w := range words {
		if !strings.Contains(text, w) {
			return 0, false
		}
	}
	return apart + strings.Index(text, words[0]), true
}

// assignment reads name=value for any setting whose name ends in name.
func assignment(text string, v View) (entry, bool) {
	name, value, ok := strings.Cut(text, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	if !ok || name == "" || value == "" {
		return entry{}, false
	}
	for _, k := range v.Knobs {
		if k.Name != name && !strings.HasSuffix(k.Name, "."+name) {
			continue
		}
		n, err := k.Parse(value)
		if err != nil {
			return entry{"✗ " + err.Error(), "", Request{Kind: Complain, Text: err.Error(), Keep: true}}, true
		}
		return entry{"set " + k.Name + " = " + k.Format(n), "", set(k, n)}, true
	}
	return entry{}, false
}

// Draw draws what is typed and what was found.
func (p *Palette) Draw(a widget.Area, _ View) {
	in := sheet(a, 76, 24, "Palette", "type to filter · enter does it · esc closes")
	in.Text(0, 0, ":", theme.Of(theme.Accent).Strong())
	p.input.draw(in.Sub(2, 0, in.W-2, 1))
	rows := in.Sub(0, 2, in.W, in.H-2)
	if len(p.found) == 0 {
		rows.Text(2, 0, "nothing matches", theme.Of(theme.Dim))
		return
	}
	first := p.list.window(len(p.found), rows.H)
	for y := 0; y < rows.H && first+y < len(p.found); y++ {
		e := p.found[first+y]
		row := rows.Sub(0, y, rows.W-2, 1)
		style := theme.Of(theme.Plain)
		if first+y == p.list.at {
			row.Set(0, 0, '▸', theme.Of(theme.Accent).Strong())
			style = style.Strong()
		}
		row.TextCut(2, 0, row.W-3-widget.Width(e.key), e.text, style)
		row.TextRight(row.W, 0, e.key, theme.Of(theme.Accent))
		if first+y == p.list.at {
			row.Back(0, theme.Selected)
		}
	}
	scrollMark(rows, first, len(p.found))
}
