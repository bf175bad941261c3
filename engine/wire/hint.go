package wire

// HintUse says what a client made of the Retry-After of a response.
type HintUse uint8

// What becomes of a Retry-After.
const (
	// HintUnused had no part in the wait: there was none, it had passed, or the
	// policy does not read it.
	HintUnused HintUse = iota
	// HintFollowed was waited for.
	HintFollowed
	// HintClamped was above the policy's maximum, which was waited for instead.
	HintClamped
	// HintIgnored was above the policy's maximum, and left the wait to the
	// backoff.
	HintIgnored
	// HintAssumed was missing, and the policy's default stood in for it.
	HintAssumed
)

var hintUseNames = []string{"unused", "followed", "clamped", "ignored", "assumed"}

// String is the use's name.
func (u HintUse) String() string { return nameOf(hintUseNames, int(u)) }
