package keymap

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"
)

func TestNoKeyMeansTwoThings(t *testing.T) {
	m := New([]string{"One", "Two"})
	for name, bs := range map[string][]Binding{"screen": m.screen, "list": m.list, "fault": m.fault} {
		seen := map[string]string{}
		for _, b := range bs {
			for _, k := range b.Keys() {
				if other, ok := seen[k]; ok {
					t.Errorf("%s: key %q means %q and %q", name, k, other, b.Help().Desc)
				}
				seen[k] = b.Help().Desc
			}
		}
	}
}

func TestAllListsEveryBinding(t *testing.T) {
	m := New([]string{"One", "Two"})
	all := map[string]bool{}
	for _, b := range m.All() {
		if b.Help().Key == "" || b.Help().Desc == "" {
			t.Errorf("command %d has no help", b.Command)
		}
		for _, k := range b.Keys() {
			all[b.Group+k] = true
		}
	}
	for _, bs := range [][]Binding{m.screen, m.list, m.fault} {
		for _, b := range bs {
			for _, k := range b.Keys() {
				if !all[b.Group+k] {
					t.Errorf("%q of %q is not in the help", k, b.Group)
				}
			}
		}
	}
}

func TestFooterNamesWhatItShows(t *testing.T) {
	for _, b := range New(nil).Footer() {
		if key, text := b.FooterHint(); key == "" || text == "" {
			t.Errorf("command %d in the footer: key %q, text %q", b.Command, key, text)
		}
	}
}

func TestPagesHaveDigits(t *testing.T) {
	m := New([]string{"One", "Two"})
	b := m.Screen(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("2")})
	if b.Command != ShowPage || b.Arg != 1 {
		t.Errorf("2 is command %d of %d", b.Command, b.Arg)
	}
	if b := m.Screen(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("3")}); b.Command != None {
		t.Errorf("3 is command %d, and there is no third page", b.Command)
	}
}

func TestPastedTextIsNoKey(t *testing.T) {
	m := New(nil)
	if b := m.Screen(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("q"), Paste: true}); b.Command != None {
		t.Errorf("pasting q is command %d", b.Command)
	}
}
