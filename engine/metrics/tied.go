package metrics

import "herdscope/engine/wire"

// tied is what is counted of requests that others have to do with: those that share
// a flight, and those that are nested.
type tied struct {
	joined    int64 // that joined a flight
	sharing   int64 // now, save one of each flight
	nesting   int64 // that have their reply and wait for nested ones, now
	deadlocks int64 // nested ones that were given up
}

// observe takes in what happens to a request.
func (t *tied) observe(e *wire.Event) {
	switch e.Kind {
	case wire.RequestJoined:
		t.joined++
		t.sharing++
	case wire.RequestNesting:
		t.nesting++
	case wire.NestedDeadlock:
		t.deadlocks++
	case wire.RequestDone:
		t.leave(e)
	}
}

// leave takes one that has ended out of its flight, or from those that wait.
func (t *tied) leave(e *wire.Event) {
	if e.Shared {
		t.sharing--
	}
	if e.Nesting {
		t.nesting--
	}
}
