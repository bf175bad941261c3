// Package pagetest makes runs to draw pages from: a crude model of a fleet that
// retries against a server with outages, stepped by hand. Its numbers look like
// those of a real run and are the same on every machine. Tests only.
package pagetest

import (
	"math"
	"math/rand/v2"
	"time"

	"herdscope/engine/backoff"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
	"herdscope/scenarios"
)

// tick is how far the model moves at once.
const tick = clock.Instant(50 * time.Millisecond)

// Outages of the model: the first begins at outageStart.
const (
	outageStart  = 5 * time.Second
	outageLength = 3 * time.Second
	outageEvery  = 25 * time.Second
)

// client is one caller of the model: either busy until a moment, or waiting for
// its next try at one.
type client struct {
	at    clock.Instant
	began clock.Instant
	sent  clock.Instant
	tries int
	busy  bool
	opens int
	state wire.BreakerState
}

// arrival is one attempt that reached the server.
type arrival struct {
	at     clock.Instant
	client int
	retry  bool
}

// model is the state of the fleet.
type model struct {
	scenario scenarios.Scenario
	draw     *rand.Rand
	now      clock.Instant
	clients  []client
	arrivals []arrival
	waits    []time.Duration
	doneAt   []clock.Instant
	lastTry  []time.Duration // of those that are done
	failedAt []clock.Instant

	requests, attempts, retries, failed, hits int64
	changes                                   []wire.Event
	opened, halfOpened, closed                int64
	downByHand, upByHand                      bool
	states                                    [][wire.NumBreakerStates]int32
}

func newModel(s scenarios.Scenario, clients int) *model {
	m := &model{scenario: s, draw: rand.New(rand.NewPCG(s.Seed, 1)), clients: make([]client, clients)}
	for i := range m.clients {
		m.clients[i] = client{busy: true, at: m.exponential(5 * time.Second)}
	}
	return m
}

func (m *model) exponential(mean time.Duration) clock.Instant {
	return m.now.Add(time.Duration(-math.Log(1-m.draw.Float64()) * float64(mean)))
}

// advance moves the model to a moment.
func (m *model) advance(to clock.Instant) {
	for m.now+tick <= to {
		m.now += tick
		down := m.down(m.now)
		for i := range m.clients {
			m.step(i, down)
		}
		if m.now%clock.Instant(100*time.Millisecond) == 0 {
			m.states = append(m.states, m.countStates())
		}
	}
}

// down says whether the server is down.
func (m *model) down(t clock.Instant) bool {
	if m.downByHand || m.upByHand {
		return m.downByHand
	}
	since := t.Duration() - outageStart
	return since >= 0 && since%outageEvery < outageLength
}

func (m *model) step(i int, down bool) {
	c := &m.clients[i]
	switch {
	case c.busy && down:
		m.hits++
		m.fail(i)
	case c.at > m.now:
	case c.busy:
		m.succeed(i)
	default:
		m.try(i, down)
	}
}

func (m *model) try(i int, down bool) {
	c := &m.clients[i]
	if c.tries == 0 {
		c.began = m.now
		m.requests++
	}
	c.tries++
	m.attempts++
	if c.tries > 1 {
		m.retries++
	}
	c.sent = m.now
	m.arrivals = append(m.arrivals, arrival{m.now, i, c.tries > 1})
	if c.state == wire.Open {
		m.change(i, wire.HalfOpen)
		m.halfOpened++
	}
	if down {
		m.hits++
		m.fail(i)
		return
	}
	c.busy, c.at = true, m.exponential(5*time.Second)
}

func (m *model) succeed(i int) {
	c := &m.clients[i]
	if c.state != wire.Closed {
		m.change(i, wire.Closed)
		m.closed++
	}
	m.doneAt = append(m.doneAt, m.now)
	m.waits = append(m.waits, m.now.Sub(c.began))
	m.lastTry = append(m.lastTry, m.now.Sub(c.sent))
	*c = client{at: m.now.Add(50 * time.Millisecond), state: c.state}
}

func (m *model) fail(i int) {
	c := &m.clients[i]
	c.opens++
	p := m.scenario.Fleet.Policy
	if f := p.Breaker.Failures; f > 0 && c.opens >= f && c.state != wire.Open {
		m.change(i, wire.Open)
		m.opened++
	}
	c.busy = false
	if c.tries >= p.Retry.Attempts {
		m.failed++
		m.failedAt = append(m.failedAt, m.now)
		*c = client{at: m.now.Add(50 * time.Millisecond), state: c.state, opens: c.opens}
		return
	}
	c.at = m.now.Add(m.delay(max(c.tries, 1)))
	c.tries = max(c.tries, 1)
}

func (m *model) delay(tries int) time.Duration {
	b := m.scenario.Fleet.Policy.Retry.Backoff
	c := min(float64(b.Base)*math.Pow(2, float64(tries-1)), float64(b.Cap))
	if b.Jitter == backoff.None {
		return time.Duration(c)
	}
	return time.Duration(c * m.draw.Float64())
}

func (m *model) change(i int, to wire.BreakerState) {
	c := &m.clients[i]
	m.changes = append(m.changes, wire.Event{
		Kind: wire.BreakerChanged, At: m.now, From: c.state, To: to,
		ID: wire.AttemptID{Client: wire.ClientID(i)},
	})
	c.state = to
}

func (m *model) countStates() (n [wire.NumBreakerStates]int32) {
	for _, c := range m.clients {
		n[c.state]++
	}
	return n
}
