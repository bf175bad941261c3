package live

import (
	"context"
	"sync"

	"herdscope/engine"
	"herdscope/engine/wire"
)

// Priority is a class that can be changed while requests have it: see
// WithPriority. It may be used from any goroutine, and by any number of requests,
// of more than one Transport too. Make one with NewPriority.
type Priority struct {
	mu    sync.Mutex
	class wire.Class
	calls map[*call]struct{} // under way
}

// NewPriority makes a Priority of a class.
func NewPriority(class wire.Class) *Priority {
	return &Priority{class: class, calls: map[*call]struct{}{}}
}

// WithPriority gives requests with this context the class of p, for as long as
// they last: where p is Set, they follow, be they waiting, in flight or in
// backoff, and keep their age.
func WithPriority(ctx context.Context, p *Priority) context.Context {
	return with(ctx, func(w *wish) { w.priority, w.class = p, p.Class() })
}

// Class is the class that p has now.
func (p *Priority) Class() wire.Class {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.class
}

// Set changes the class, one of wire.ClassNames, of all requests that have p and
// have not ended. Other classes change nothing.
func (p *Priority) Set(class wire.Class) {
	if class >= wire.NumClasses {
		return
	}
	for _, c := range p.change(class) {
		c.reclass()
	}
}

// change sets the class and returns the calls that have to be told. They are told
// without p's lock, since the transport's comes before it.
func (p *Priority) change(class wire.Class) []*call {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.class = class
	calls := make([]*call, 0, len(p.calls))
	for c := range p.calls {
		calls = append(calls, c)
	}
	return calls
}

// reclass tells the machine what class the call has now, however many have set it
// meanwhile.
func (c *call) reclass() {
	c.t.mu.Lock()
	defer c.t.mu.Unlock()
	if !c.ended {
		c.t.step(engine.Input{
			Kind: engine.SetClass, Request: c.id, Class: c.wish.priority.Class(),
		})
	}
}

// follow has a call that begins follow its Priority, if it has one. It needs the
// transport's lock, as unfollow does.
func (c *call) follow() {
	if p := c.wish.priority; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		c.wish.class = p.class
		p.calls[c] = struct{}{}
	}
}

// unfollow ends that.
func (c *call) unfollow() {
	if p := c.wish.priority; p != nil {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.calls, c)
	}
}
