package wire

// Wait says what a request in a queue waits for.
type Wait uint8

// What a request waits for.
const (
	// WaitNone is that nobody waits.
	WaitNone Wait = iota
	// WaitSlot is that all slots are in use.
	WaitSlot
	// WaitPaused is that the scope's limit is 0.
	WaitPaused
	// WaitMost is that its class has as many slots as it may.
	WaitMost
	// WaitKept is that the free slots are kept for other classes.
	WaitKept
	// WaitProtected is that critical work is unfinished, and keeps background back.
	WaitProtected
	// WaitBreaker is that the breaker lets nothing through.
	WaitBreaker
	// WaitTurn is that it could start, and another goes first.
	WaitTurn

	// NumWaits is the number of reasons.
	NumWaits = int(WaitTurn) + 1
)

var waitNames = []string{
	"none", "no slot", "paused", "class at its most", "kept for others", "protection", "breaker", "turn",
}

// String is the reason in words.
func (w Wait) String() string { return nameOf(waitNames, int(w)) }

// Heads is of how many queues the one that waits longest waits for what, by its
// class: a scope of a client has one queue for each class.
type Heads [NumClasses][NumWaits]int64
