package live

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"syscall"
	"time"

	"herdscope/engine/clock"
)

// lagWorthNoting is from when on a sender that is late is mentioned: the width
// of the bins that herds are counted in.
const lagWorthNoting = 100 * time.Millisecond

// Lag is how far this machine is behind what the run asks of it: the worst of
// the last second or two of the run clock.
type Lag struct {
	// Step is how late the fleet was stepped after the time it asked for.
	Step time.Duration
	// Send is how long attempts waited for a connection after the fleet had
	// sent them.
	Send time.Duration
}

// lagMeter keeps the worst lag of this run-clock second and of the one before.
// The zero lagMeter is ready.
type lagMeter struct {
	second      int64
	worst, last Lag
}

func (m *lagMeter) add(now clock.Instant, l Lag) {
	m.turn(now)
	m.worst.Step = max(m.worst.Step, l.Step)
	m.worst.Send = max(m.worst.Send, l.Send)
}

func (m *lagMeter) at(now clock.Instant) Lag {
	m.turn(now)
	return Lag{Step: max(m.worst.Step, m.last.Step), Send: max(m.worst.Send, m.last.Send)}
}

func (m *lagMeter) turn(now clock.Instant) {
	second := now.Second()
	switch {
	case second <= m.second:
		return
	case second == m.second+1:
		m.last = m.worst
	default:
		m.last = Lag{}
	}
	m.second, m.worst = second, Lag{}
}

// environment is what this machine does to the numbers of a run. The owner
// writes it, anybody reads it.
type environment struct {
	mu      sync.Mutex
	lag     lagMeter
	limited int   // attempts that ran into a limit
	limit   error // the limit that the last of them ran into
	early   bool  // the clock was started before the server was ready
}

func (e *environment) note(now clock.Instant, l Lag, limit error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.lag.add(now, l)
	if limit != nil {
		e.limited++
		e.limit = limit
	}
}

func (e *environment) startedEarly() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.early = true
}

func (e *environment) lagAt(now clock.Instant) Lag {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.lag.at(now)
}

func (e *environment) notice(now clock.Instant) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var notes []string
	if e.limited > 0 {
		notes = append(notes, fmt.Sprintf("%d attempts ran into a limit of this machine: %s",
			e.limited, limitName(e.limit)))
	}
	if l := e.lag.at(now); max(l.Step, l.Send) >= lagWorthNoting {
		notes = append(notes, fmt.Sprintf("sender up to %d ms behind schedule",
			max(l.Step, l.Send).Milliseconds()))
	}
	if e.early {
		notes = append(notes, "the run began before the server had all requests of the start")
	}
	return strings.Join(notes, "; ")
}

// limitIn finds the limit of this machine that err comes from; nil if none.
func limitIn(err error) error {
	for _, limit := range []error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL} {
		if errors.Is(err, limit) {
			return limit
		}
	}
	return nil
}

func limitName(limit error) string {
	switch limit {
	case syscall.EMFILE:
		return "open files per process (ulimit -n" + openFilesLimit() + ")"
	case syscall.ENFILE:
		return "open files of the whole system"
	}
	return "free local ports (" + limit.Error() + ")"
}
