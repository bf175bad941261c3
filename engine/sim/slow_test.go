package sim

import (
	"testing"

	"herdscope/engine/wire"
)

// TestAReplyInTheMakingIsLostWithItsClient: what has not been written to its end
// when the client leaves never comes.
func TestAReplyInTheMakingIsLostWithItsClient(t *testing.T) {
	one, two := wire.AttemptID{Client: 1, Request: 1, Try: 1}, wire.AttemptID{Client: 2, Request: 1, Try: 1}
	var r slowReplies
	r.leave(one) // nothing is being written
	if r.lost(one) {
		t.Error("a reply that was written at once is lost")
	}
	r.begin(one)
	r.begin(two)
	r.leave(one)
	if !r.lost(one) || r.lost(two) {
		t.Error("only the reply to the client that left is lost")
	}
	if r.lost(one) || len(r) != 0 {
		t.Error("a reply that has ended is still known")
	}
}
