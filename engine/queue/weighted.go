package queue

import (
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// Weighted gives each class its weight in turns, one class after the other, and
// inside a class goes by submission: deficit round robin, in which every request
// costs one turn (M. Shreedhar and G. Varghese, "Efficient Fair Queuing Using
// Deficit Round-Robin", SIGCOMM 1995). The head of a class waits for no more
// turns of others than their weights add up to, and n requests ahead of it in a
// class of weight w cost n/w rounds more.
const Weighted Order = 2

func init() {
	register(Weighted, rule{
		name:  "weighted",
		bound: "one round: between two turns of a class the others have no more than their weights",
		turn: func(q *Queue, _ clock.Instant, may Allowed) int32 {
			return q.head(q.round.take(&q.config, may))
		},
	})
}

// round is how far the classes have got with their turns.
type round struct {
	at   int                  // the class whose turns these are
	left [wire.NumClasses]int // the deficits: turns that a class still has
}

// take gives one turn to a class in may, and returns it. A class that is passed
// over because it may not start keeps the turns that it had left, and gets no
// new ones for the time.
func (r *round) take(config *Config, may Allowed) int {
	for !may[r.at] {
		r.next()
	}
	c := r.at
	weight := orElse(config.Weight[c], DefaultWeight(wire.Class(c)))
	if r.left[c] == 0 || r.left[c] > weight {
		r.left[c] = weight
	}
	r.left[c]--
	if r.left[c] == 0 {
		r.next()
	}
	return c
}

// leave takes from a class that has nobody waiting what it had left. It loses
// its turn as well, or a class that empties and fills would never end it.
func (r *round) leave(c wire.Class) {
	r.left[c] = 0
	if r.at == int(c) {
		r.next()
	}
}

func (r *round) next() { r.at = (r.at + 1) % wire.NumClasses }
