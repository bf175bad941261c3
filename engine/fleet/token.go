package fleet

import (
	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/wire"
)

// token is what clients share of their tokens where the policy's Auth.Shared says
// so.
type token struct {
	version uint32 // counts the refreshes that succeeded
	by      int32  // the client that refreshes it, plus one; 0 is nobody
	// waiting is the clients that wait for that, in the order in which they came
	// to, all at the same instant.
	waiting clock.Index
}

// refresh gets client i a new token for the sake of an attempt that met a 401: by
// a request of its own, unless another client of those that share one has got it
// since, or is about to.
func (f *Fleet) refresh(
	now clock.Instant, i int32, met wire.Attempt, out []engine.Effect,
) []engine.Effect {
	c := &f.clients[i]
	if f.config.Policy.Auth.Shared {
		switch {
		case c.token != f.token.version:
			c.token = f.token.version
			return f.step(now, i, engine.Input{Kind: engine.Refreshed, Good: true}, out)
		case f.token.by != 0:
			f.token.waiting.Set(i, 0)
			return out
		}
		f.token.by = i + 1
	}
	return f.askToken(now, i, met, out)
}

// askToken submits the request that gets a client a new token: critical, and else
// like the attempt that met the 401.
func (f *Fleet) askToken(
	now clock.Instant, i int32, met wire.Attempt, out []engine.Effect,
) []engine.Effect {
	c := &f.clients[i]
	c.next++
	c.refresh = c.next
	f.begun++
	return f.step(now, i, engine.Input{
		Kind: engine.Submit, Request: c.next, Since: now, Class: wire.Critical, Method: wire.Get,
		Route: met.Route, Scope: met.Scope, Timeout: f.config.Mix[met.Class].Timeout, Refresh: true,
	}, out)
}

// refreshed is the end of client i's request for a token. Those who have waited
// for it go on, or fail, as the client itself has.
func (f *Fleet) refreshed(now clock.Instant, i int32, good bool, out []engine.Effect) []engine.Effect {
	f.clients[i].refresh = 0
	if f.token.by != i+1 {
		return out // its own affair
	}
	f.token.by = 0
	if good {
		f.token.version++
		f.clients[i].token = f.token.version
	}
	for f.token.waiting.Len() > 0 {
		k, _, _ := f.token.waiting.Min()
		f.token.waiting.Clear(k)
		f.clients[k].token = f.token.version
		out = f.step(now, k, engine.Input{Kind: engine.Refreshed, Good: good}, out)
	}
	return out
}
