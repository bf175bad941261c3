package sim

import "herdscope/engine/wire"

// slowReplies is the replies that the server takes its time to write, and
// whether their client has left meanwhile: what is not yet whole is then lost
// with the connection, as it is on a socket.
type slowReplies map[wire.AttemptID]bool

func (r *slowReplies) begin(id wire.AttemptID) {
	if *r == nil {
		*r = slowReplies{}
	}
	(*r)[id] = false
}

// leave says that the client of an attempt has left.
func (r slowReplies) leave(id wire.AttemptID) {
	if _, writing := r[id]; writing {
		r[id] = true
	}
}

// lost ends the writing of a reply, and says whether nobody is there for it.
func (r slowReplies) lost(id wire.AttemptID) bool {
	left := r[id]
	delete(r, id)
	return left
}
