package theme

// ascii gives each glyph that the widgets draw its 7-bit stand-in. Glyphs that
// mean different things keep different stand-ins where they can meet.
var ascii = map[rune]rune{
	'─': '-', '│': '|', '╭': '+', '╮': '+', '╰': '+', '╯': '+', '┬': '+', '┴': '+',
	'├': '+', '┤': '|', '┼': '+', '└': '+', '┄': '-', '┆': ':', '╌': '-', '┊': ':',
	'▁': '_', '▂': '_', '▃': '.', '▄': '.', '▅': '=', '▆': '=', '▇': '#', '█': '#',
	'▏': '|', '▎': '|', '▍': '|', '▌': '|', '▋': '#', '▊': '#', '▉': '#', '▐': '|', '▕': '|',
	'░': ':', '▒': '%', '▓': '@', '▸': '>', '◂': '<', '‹': '<', '›': '>', '▲': '^', '▼': 'v', '▽': 'v',
	'●': '*', '○': 'o', '◐': 'o', '·': '.', '•': '*', '…': '~', '×': 'x', '→': '>', '←': '<',
	'↑': '^', '↓': 'v', '✓': '+', '✗': 'X', '≤': '<', '≥': '>', '–': '-', '—': '-',
	'’': '\'', '‘': '\'', '“': '"', '”': '"', 'σ': 's', 'µ': 'u', 'μ': 'u',
	'±': '~', '∞': '*', '≈': '=', '▴': '^', '▾': 'v', '■': '#', '□': 'o', '\u00a0': ' ', '\u202f': ' ',
}

// Glyph is what to write for a rune: itself, or its 7-bit stand-in if the theme
// allows no more. Runes without one become a question mark.
func (t *Theme) Glyph(r rune) rune {
	if !t.o.ASCII || r < 0x80 {
		return r
	}
	if a, ok := ascii[r]; ok {
		return a
	}
	return '?'
}
