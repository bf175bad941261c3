package live

import (
	"errors"
	"strings"
	"syscall"
	"testing"
	"time"

	"herdscope/engine/clock"
)

func TestLagIsTheWorstOfTheLastTwoSeconds(t *testing.T) {
	var m lagMeter
	half := clock.Instant(500 * time.Millisecond)
	m.add(half, Lag{Step: 5, Send: 1})
	m.add(half+1, Lag{Step: 3, Send: 7})
	for _, tt := range []struct {
		at   clock.Instant
		want Lag
	}{
		{half + 2, Lag{5, 7}},
		{seconds(1) + half, Lag{5, 7}},
		{seconds(2), Lag{}},
		{seconds(9), Lag{}},
	} {
		if got := m.at(tt.at); got != tt.want {
			t.Errorf("at %v: %+v, want %+v", tt.at.Duration(), got, tt.want)
		}
	}
	m.add(seconds(9), Lag{Step: 2})
	if got := m.at(seconds(11)); got != (Lag{}) {
		t.Errorf("two seconds later: %+v", got)
	}
}

func TestNoticeNamesWhatTheEnvironmentDoes(t *testing.T) {
	var e environment
	if got := e.notice(0); got != "" {
		t.Errorf("notice %q of a run without trouble", got)
	}
	e.note(0, Lag{Step: lagWorthNoting - 1}, nil)
	if got := e.notice(0); got != "" {
		t.Errorf("notice %q of a lag that is not worth it", got)
	}
	e.note(0, Lag{Step: 123 * time.Millisecond}, nil)
	e.note(0, Lag{}, syscall.EADDRNOTAVAIL)
	e.note(0, Lag{}, syscall.EMFILE)
	got := e.notice(0)
	for _, want := range []string{
		"2 attempts", "open files per process (ulimit -n", "123 ms behind schedule", "; ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("notice %q lacks %q", got, want)
		}
	}
	if got := e.notice(seconds(60)); strings.Contains(got, "behind") ||
		!strings.Contains(got, "2 attempts") {
		t.Errorf("a minute later the notice is %q", got)
	}
}

func TestLimitsHaveNames(t *testing.T) {
	for limit, want := range map[error]string{
		syscall.EMFILE: "ulimit", syscall.ENFILE: "whole system", syscall.EADDRNOTAVAIL: "ports",
	} {
		if found := limitIn(errors.Join(errors.New("dial"), limit)); found != limit {
			t.Errorf("%v was taken for %v", limit, found)
		}
		if got := limitName(limit); !strings.Contains(got, want) {
			t.Errorf("%v is named %q", limit, got)
		}
	}
	if found := limitIn(syscall.ECONNREFUSED); found != nil {
		t.Errorf("a refused connection was taken for the limit %v", found)
	}
}
