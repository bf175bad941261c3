package tui

import (
	"testing"
)

// foreignScreen is a screen over foreign clients.
func foreignScreen(t *testing.T) *screen {
	t.Helper()
	s := newScreen(t)
	s.src.status.Foreign = true
	s.Update(frameMsg{})
	return s
}

func TestForeignClientsAreNotShownAsOurs(t *testing.T) {
	s := foreignScreen(t)
	for _, text := range []string{"SERVING http", "likely retries", "first tries", "arrivals", "answered well",
		"may come back", "foreign clients:", "Retry-After:"} {
		s.shows(text)
	}
	for _, text := range []string{"in backoff", "goodput", "retry.jitter", "slots", "space pause", "LIVE"} {
		s.hides(text)
	}
	for _, key := range []string{"3", "4"} {
		s.press(key)
		s.shows("foreign clients: not visible from the server")
	}
	s.press("5")
	s.shows("from the first arrival")
	s.hides("intended start")
}

func TestKeysSayWhatForeignClientsDoNotAllow(t *testing.T) {
	for key, why := range map[string]string{
		"space": "cannot be paused", "r": "cannot be run again", "v": "always live", "o": "cannot change while",
	} {
		s := foreignScreen(t)
		s.press(key)
		s.shows(why)
		if s.src.status.Paused || s.opening != nil || s.overlay != nil {
			t.Errorf("%s did something all the same", key)
		}
	}
}

// The settings of the panel are the server's, and change as any.
func TestForeignTuningIsTheServers(t *testing.T) {
	s := foreignScreen(t)
	s.press("l")
	if len(s.src.did) != 1 || s.src.did[0].Knob != "server.workers" {
		t.Errorf("did %+v, want a change of server.workers", s.src.did)
	}
}
