package metrics

import "herdscope/engine/wire"

// Refreshes counts the requests by which clients got new tokens: those that began,
// and those that ended in another way than with a token.
type Refreshes struct{ Begun, Failed int64 }

// observe takes in what happens to a request.
func (r *Refreshes) observe(e *wire.Event) {
	switch {
	case !e.Refresh:
	case e.Kind == wire.RequestBegan:
		r.Begun++
	case e.Kind == wire.RequestDone && e.Outcome != wire.Succeeded:
		r.Failed++
	}
}
