package pagetest

import tea "github.com/charmbracelet/bubbletea"

var special = map[string]tea.KeyType{
	"esc": tea.KeyEsc, "enter": tea.KeyEnter, "up": tea.KeyUp, "down": tea.KeyDown, "left": tea.KeyLeft,
	"right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
	"tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "backspace": tea.KeyBackspace, "delete": tea.KeyDelete,
	"ctrl+a": tea.KeyCtrlA, "ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+n": tea.KeyCtrlN,
	"ctrl+p": tea.KeyCtrlP, "ctrl+u": tea.KeyCtrlU, "ctrl+w": tea.KeyCtrlW, "ctrl+z": tea.KeyCtrlZ,
	"shift+left": tea.KeyShiftLeft, "shift+right": tea.KeyShiftRight,
}

// Key is the message of a key, by the name that bindings use.
func Key(name string) tea.KeyMsg {
	if t, ok := special[name]; ok {
		return tea.KeyMsg{Type: t}
	}
	if name == " " || name == "space" {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(" ")}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}
