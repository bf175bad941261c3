package fleet

import (
	"time"

	"herdscope/engine"
	"herdscope/engine/clock"
	"herdscope/engine/rng"
	"herdscope/engine/wire"
)

// MaxChain is the most requests that a page can ask for.
const MaxChain = 8

// page is a chain of requests of one client, each asked for when the one before
// it has succeeded, in one group. It is there while it lasts.
type page struct {
	client int32
	group  uint32        // the ID of its first request
	since  clock.Instant // the intended start of that
	left   int           // requests to be asked for after the present one
	warm   bool          // its first request was held when the run began
	next   int32         // the client's next page; noPage at the end
}

// noPage stands for the end of a list of pages.
const noPage int32 = -1

// pages is all pages under way, in a list for each client.
type pages struct {
	pages  []page
	free   []int32
	leaves clock.Index // when the person of each page loses patience
}

// chain is how many requests an arrival asks for.
func (a *Arrival) chain() int { return max(a.Chain, 1) }

// paged says whether arrivals are pages and not just requests.
func (a *Arrival) paged() bool { return a.chain() > 1 || a.Patience > 0 }

// open makes a page of the request that client i is about to begin, and returns
// its group; 0 if arrivals are no pages.
func (f *Fleet) open(i int32, since clock.Instant) (group uint32) {
	if !f.config.Arrival.paged() {
		return 0
	}
	c, p := &f.clients[i], int32(len(f.pages.pages))
	if n := len(f.pages.free); n > 0 {
		p = f.pages.free[n-1]
		f.pages.free = f.pages.free[:n-1]
	} else {
		f.pages.pages = append(f.pages.pages, page{})
	}
	f.pages.pages[p] = page{
		client: i, group: uint32(c.next), since: since,
		left: f.config.Arrival.chain() - 1, warm: c.warm, next: c.page,
	}
	c.page = p
	if f.config.Arrival.Patience > 0 {
		f.pages.leaves.Set(p, since.Add(f.patience(i)))
	}
	return uint32(c.next)
}

// patience is how long the person waits for the page that client i begins. Of
// one that was under way before the run, it is the rest, which is the same: an
// exponential time has no memory.
func (f *Fleet) patience(i int32) time.Duration {
	u := rng.At(f.seed, rng.Patience, uint64(i), f.clients[i].asked, 0)
	return rng.Exponential(u, f.config.Arrival.Patience)
}

// close forgets a page of client i.
func (f *Fleet) close(i, p int32) {
	at := &f.clients[i].page
	for *at != p {
		at = &f.pages.pages[*at].next
	}
	*at = f.pages.pages[p].next
	f.pages.leaves.Clear(p)
	f.pages.free = append(f.pages.free, p)
}

// pageOf is the page of client i with that group; noPage if there is none.
func (f *Fleet) pageOf(i int32, group uint32) int32 {
	p := f.clients[i].page
	for p != noPage && f.pages.pages[p].group != group {
		p = f.pages.pages[p].next
	}
	return p
}

// done sees to what comes after a request of client i: the next of its page, or
// the end of it and time to think. A refresh of the token is followed by neither.
func (f *Fleet) done(
	now clock.Instant, i int32, e wire.Event, out []engine.Effect,
) []engine.Effect {
	f.ended++
	if e.Parent != 0 || e.Repeats != 0 {
		return out // its parent, or the first submission, is what others go by
	}
	if e.ID.Request == f.clients[i].refresh {
		return f.refreshed(now, i, e.Outcome == wire.Succeeded, out)
	}
	p := noPage
	if e.Group != 0 {
		p = f.pageOf(i, e.Group)
	}
	if p != noPage {
		good := e.Outcome == wire.Succeeded
		if good && f.pages.pages[p].left > 0 {
			return f.turn(now, i, p, out)
		}
		out = append(out, f.pageEnded(now, p, good))
		f.close(i, p)
	}
	f.rest(i, now, e.Outcome)
	return out
}

// turn asks for the next request of a page. A fleet that has stopped begins no
// more requests, so there the page stays without an end.
func (f *Fleet) turn(now clock.Instant, i, p int32, out []engine.Effect) []engine.Effect {
	if f.stopped {
		f.close(i, p)
		return out
	}
	at := &f.pages.pages[p]
	at.left--
	f.clients[i].next++
	f.clients[i].asked++
	return f.submit(now, i, now, at.group, out)
}

// pageEnded reports the end of a page.
func (f *Fleet) pageEnded(now clock.Instant, p int32, good bool) engine.Effect {
	at := &f.pages.pages[p]
	return engine.Effect{Kind: engine.Report, Event: wire.Event{
		Kind: wire.PageEnded, At: now, Since: at.since, Delay: now.Sub(at.since),
		ID:    wire.AttemptID{Client: wire.ClientID(at.client), Request: wire.RequestID(at.group)},
		Group: at.group, Good: good, Warm: at.warm,
	}}
}

// leave gives up a page whose person has lost patience.
func (f *Fleet) leave(now clock.Instant, p int32, out []engine.Effect) []engine.Effect {
	f.pages.leaves.Clear(p)
	at := f.pages.pages[p]
	return f.step(now, at.client, engine.Input{Kind: engine.CancelGroup, Group: at.group}, out)
}
