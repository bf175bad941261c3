package scenarios

import "testing"

// TestDisagreementNamesBothKnobs: the value in the message is that of the other
// knob, not of the one that the action sets.
func TestDisagreementNamesBothKnobs(t *testing.T) {
	checkError(t, head+"timeline:\n  - at: 5s\n    set: {retry.base: 1m}\n",
		`f.yaml:5:11: timeline[0].set.retry.base: then retry.cap: "10s" is below retry.base; `+
			`allowed: 1m or more`)
	checkError(t, head+"timeline:\n  - at: 5s\n    set: {mix.interactive.weight: 0}\n",
		`f.yaml:5:11: timeline[0].set.mix.interactive.weight: "0" leaves no class a weight; `+
			`allowed: 1 to 1000 for at least one class`)
}
