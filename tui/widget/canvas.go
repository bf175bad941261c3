// Package widget draws the parts of a screen: frames, charts, rasters, bars and
// lists, on a grid of cells. Widgets are pure: what they draw depends on their
// arguments alone. Drawing outside of an area is cut off, never an error, so
// that a frame has exactly the size of its canvas whatever is drawn on it.
//
// The package imports theme and the vocabulary of the engine; it knows nothing
// of pages, keys or running experiments.
package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"herdscope/tui/theme"
)

// cell is one character position. The right half of a wide character has the
// rune 0.
type cell struct {
	r     rune
	style theme.Style
}

// Canvas is a grid of cells, which becomes the text of one frame.
type Canvas struct {
	w, h  int
	cells []cell
	theme *theme.Theme
}

// NewCanvas returns an empty canvas without size.
func NewCanvas(t *theme.Theme) *Canvas { return &Canvas{theme: t} }

// Reset gives the canvas a size and empties it. Negative sizes count as 0.
func (c *Canvas) Reset(w, h int) {
	c.w, c.h = max(w, 0), max(h, 0)
	n := c.w * c.h
	if cap(c.cells) < n {
		c.cells = make([]cell, n)
	}
	c.cells = c.cells[:n]
	for i := range c.cells {
		c.cells[i] = cell{r: ' '}
	}
}

// Area is all of the canvas.
func (c *Canvas) Area() Area { return Area{c: c, W: c.w, H: c.h} }

// String is the frame: exactly as many lines as the canvas is high, each
// exactly as wide as the canvas. Neighbours of one style share their escape
// sequences.
func (c *Canvas) String() string {
	var b strings.Builder
	b.Grow(len(c.cells)*3 + c.h*32)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.writeLine(&b, c.cells[y*c.w:(y+1)*c.w])
	}
	return b.String()
}

func (c *Canvas) writeLine(b *strings.Builder, line []cell) {
	for len(line) > 0 {
		run := 1
		for run < len(line) && line[run].style == line[0].style {
			run++
		}
		prefix := c.theme.Prefix(line[0].style)
		b.WriteString(prefix)
		for _, cl := range line[:run] {
			if cl.r != 0 {
				b.WriteRune(cl.r)
			}
		}
		if prefix != "" {
			b.WriteString(theme.Suffix)
		}
		line = line[run:]
	}
}

// Area is a rectangle of a canvas with its own coordinates. W and H may be 0 or
// less, and the area then shows nothing.
type Area struct {
	c    *Canvas
	x, y int
	W, H int
}

// Theme is the theme that the area is drawn in.
func (a Area) Theme() *theme.Theme { return a.c.theme }

// Sub is the part of a at x, y with the size w by h, cut to fit.
func (a Area) Sub(x, y, w, h int) Area {
	if x < 0 {
		w, x = w+x, 0
	}
	if y < 0 {
		h, y = h+y, 0
	}
	return Area{c: a.c, x: a.x + x, y: a.y + y, W: max(min(w, a.W-x), 0), H: max(min(h, a.H-y), 0)}
}

// Rows splits off the first n rows.
func (a Area) Rows(n int) (first, rest Area) {
	n = min(max(n, 0), a.H)
	return a.Sub(0, 0, a.W, n), a.Sub(0, n, a.W, a.H-n)
}

// Cols splits off the first n columns.
func (a Area) Cols(n int) (first, rest Area) {
	n = min(max(n, 0), a.W)
	return a.Sub(0, 0, n, a.H), a.Sub(n, 0, a.W-n, a.H)
}

func (a Area) at(x, y int) *cell {
	if x < 0 || y < 0 || x >= a.W || y >= a.H {
		return nil
	}
	return &a.c.cells[(a.y+y)*a.c.w+a.x+x]
}

// Set draws one character of width one.
func (a Area) Set(x, y int, r rune, s theme.Style) {
	if a.at(x, y) != nil {
		a.put(x, y, cell{r: a.c.theme.Glyph(r), style: s})
	}
}

// put replaces a cell that is inside. Half a wide character is none: if its
// other half was there, it becomes a space.
func (a Area) put(x, y int, new cell) {
	i := (a.y+y)*a.c.w + a.x + x
	if old := a.c.cells[i].r; old == 0 {
		a.c.cells[i-1].r = ' '
	} else if i+1 < len(a.c.cells) && a.c.cells[i+1].r == 0 {
		a.c.cells[i+1].r = ' '
	}
	a.c.cells[i] = new
}

// Fill draws one character all over the area.
func (a Area) Fill(r rune, s theme.Style) {
	for y := range a.H {
		for x := range a.W {
			a.Set(x, y, r, s)
		}
	}
}

// Back gives row y the background of a role and leaves what is drawn there.
func (a Area) Back(y int, bg theme.Role) {
	for x := range a.W {
		if p := a.at(x, y); p != nil {
			p.style.BG = bg
		}
	}
}

// Bare says whether nothing is drawn at x, y.
func (a Area) Bare(x, y int) bool {
	p := a.at(x, y)
	return p != nil && p.r == ' '
}

// Text writes s from x on and returns the column after it. Characters that do
// not fit are cut off, those that would move the cursor are left out.
func (a Area) Text(x, y int, s string, st theme.Style) int {
	for _, r := range s {
		w := runeWidth(r)
		if w == 0 {
			continue
		}
		if w == 2 && !a.c.theme.ASCII() {
			a.setWide(x, y, r, st)
			x += 2
			continue
		}
		a.Set(x, y, r, st)
		x++
	}
	return x
}

// setWide draws a character of two cells, or blanks where only one is inside.
func (a Area) setWide(x, y int, r rune, st theme.Style) {
	left, right := a.at(x, y), a.at(x+1, y)
	if left != nil && right != nil {
		a.put(x+1, y, cell{r: ' ', style: st})
		a.put(x, y, cell{r: r, style: st})
		*right = cell{style: st}
		return
	}
	a.Set(x, y, ' ', st)
	a.Set(x+1, y, ' ', st)
}

// TextRight writes s so that it ends before column x.
func (a Area) TextRight(x, y int, s string, st theme.Style) {
	a.Text(x-Width(s), y, s, st)
}

// TextCut writes s within w columns; a text that is cut ends in an ellipsis.
func (a Area) TextCut(x, y, w int, s string, st theme.Style) int {
	return a.Text(x, y, Cut(s, w), st)
}

// Width is how many cells a text takes.
func Width(s string) int {
	n := 0
	for _, r := range s {
		n += runeWidth(r)
	}
	return n
}

// Cut shortens a text to w cells, an ellipsis in place of what is left out.
func Cut(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n := 0
	for i, r := range s {
		rw := runeWidth(r)
		if n+rw > w-1 {
			return s[:i] + "…"
		}
		n += rw
	}
	return s
}

// CutHead shortens a text to w cells from its beginning, for names that differ
// at their ends.
func CutHead(s string, w int) string {
	if Width(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	rest := s
	for Width(rest) >= w {
		_, n := utf8.DecodeRuneInString(rest)
		rest = rest[n:]
	}
	return "…" + rest
}

// runeWidth is how many cells a character takes: 0 for what shows nothing by
// itself, and for what would join its neighbours to something narrower.
// Ambiguous characters count as one, as they do in nearly all terminals.
func runeWidth(r rune) int {
	switch {
	case r >= 0x20 && r < 0x7f:
		return 1
	case r < 0xa0 || r == utf8.RuneError || r == 0xad || !unicode.IsPrint(r):
		return 0
	case r < 0x300 || (r >= 0x2500 && r < 0x25fd):
		return 1
	case unicode.In(r, unicode.M, unicode.Cf, joining):
		return 0
	}
	return min(ansi.StringWidth(string(r)), 2)
}

// joining is the characters that form one cluster with a neighbour without
// being marks: a letter before the next, jamo, voiced sound marks, flags, skin
// tones, and the historic scripts beyond the basic plane.
var joining = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x0d4e, Hi: 0x0d4e, Stride: 1},
		{Lo: 0x1100, Hi: 0x11ff, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xd7b0, Hi: 0xd7ff, Stride: 1},
		{Lo: 0xff9e, Hi: 0xff9f, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x10000, Hi: 0x1efff, Stride: 1},
		{Lo: 0x1f1e6, Hi: 0x1f1ff, Stride: 1},
		{Lo: 0x1f3fb, Hi: 0x1f3ff, Stride: 1},
	},
}
