package live

import (
	"context"
	"errors"

	"herdscope/engine"
)

// ErrNoRefresh is in the chain of the error for a policy with Auth.Refresh where
// no WithRefresh says how.
var ErrNoRefresh = errors.New("auth.refresh needs WithRefresh")

// WithRefresh sets the function that gets a new token when a request has met a
// 401, if the policy has Auth.Refresh. It is called once at a time, from a
// goroutine of its own, while no other attempt goes out; an error fails every
// request that has waited. Its context ends with Close. It must not use this
// Transport, which waits for it; a RequestHook puts the new token into the
// requests, which are replayed.
func WithRefresh(refresh func(context.Context) error) Option {
	return func(o *options) { o.refresh = refresh }
}

// allows says what is wrong with a policy for this Transport.
func (t *Transport) allows(policy engine.Policy) error {
	if err := policy.Validate(); err != nil {
		return err
	}
	if policy.Auth.Refresh && t.refresh == nil {
		return ErrNoRefresh
	}
	return nil
}

// renew gets a new token, and then lets go on who has waited for it.
func (t *Transport) renew() {
	err := t.refresh(t.life)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.step(engine.Input{Kind: engine.Refreshed, Good: err == nil})
}
