package report

import (
	"fmt"
	"strings"

	"herdscope/engine/metrics"
	"herdscope/engine/wire"
)

// repeat is a request that took effect more than once.
type repeat struct {
	Client  uint32 `json:"client"`
	Request uint32 `json:"request"`
	// Key is its Idempotency-Key; null if it has none.
	Key   *string `json:"key"`
	Times int64   `json:"times"`
	AtS   milli   `json:"at_s"`
}

// newRepeats never gives nil, so that a run without any writes [].
func newRepeats(listed []metrics.Repeat) []repeat {
	out := make([]repeat, 0, len(listed))
	for _, r := range listed {
		item := repeat{
			Client: uint32(r.ID.Client), Request: uint32(r.ID.Request),
			Times: r.Times, AtS: milli(r.At.Seconds()),
		}
		if r.Key != 0 {
			key := keyText(r.Key)
			item.Key = &key
		}
		out = append(out, item)
	}
	return out
}

// keyText is a key as it stands in its field, without the quotes.
func keyText(key uint64) string { return strings.Trim(wire.FormatKey(key), `"`) }

// repeatsInText is how many requests the text names.
const repeatsInText = 5

// repeated says which unsafe requests took effect more than once, and how many
// attempts were kept from that.
func repeated(b *strings.Builder, s *metrics.Summary) {
	label := "effects"
	if s.Repeated > 0 {
		what := "requests were"
		if s.Repeated == 1 {
			what = "request was"
		}
		line(b, label, "%s %s charged twice or more: %s", grouped(s.Repeated), what, whichRepeats(s))
		label = ""
	}
	if s.Replayed > 0 {
		line(b, label, "%s repetitions got the stored reply", grouped(s.Replayed))
	}
}

func whichRepeats(s *metrics.Summary) string {
	var parts []string
	for _, r := range s.Repeats[:min(len(s.Repeats), repeatsInText)] {
		part := fmt.Sprintf("c%04d/%d", r.ID.Client, r.ID.Request)
		if r.Times > 2 {
			part += fmt.Sprintf(" %d times", r.Times)
		}
		parts = append(parts, part)
	}
	if rest := s.Repeated - int64(len(parts)); rest > 0 {
		parts = append(parts, "and "+grouped(rest)+" more")
	}
	return strings.Join(parts, ", ")
}
