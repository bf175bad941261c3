package retryafter

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"herdscope/engine/wire"
)

// The first and the last second, in Unix time, that the four digits of a year
// can write.
const (
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

// The texts of the forms that have no value.
const (
	hugeText    = "99999999999999999999"
	garbageText = "in a while"
)

// Format is the hint as the value of the field that NameOf names; "" for no hint. A
// negative number of seconds becomes 0, and dates before the year 0 or after
// 9999 become the nearest in between. The RFC 850 form has only two digits for
// the year: more than 50 years ahead it is read as a date in the past. Of
// HintTwice it is the first of the two values; see Fields.
func Format(h wire.Hint) string {
	date := time.Unix(min(max(h.Value, firstSecond), lastSecond), 0).UTC()
	delay := strconv.FormatInt(max(h.Value, 0), 10)
	switch h.Form {
	case wire.HintSeconds, wire.HintTwice, wire.HintPushback:
		return delay
	case wire.HintIMFDate, wire.HintPast:
		return date.Format("Mon, 02 Jan 2006 15:04:05 GMT")
	case wire.HintRFC850Date:
		return date.Format("Monday, 02-Jan-06 15:04:05 GMT")
	case wire.HintAsctimeDate:
		return date.Format("Mon Jan _2 15:04:05 2006")
	case wire.HintPadded:
		return " " + delay + " "
	case wire.HintNegative:
		return "-" + delay
	case wire.HintSigned:
		return "+" + delay
	case wire.HintFraction:
		return formatFraction(max(h.Value, 0))
	case wire.HintHuge:
		return hugeText
	case wire.HintGarbage:
		return garbageText
	case wire.HintPushbackStop:
		return pushbackStop
	}
	return ""
}

// formatFraction writes milliseconds as seconds with one decimal at least.
func formatFraction(ms int64) string {
	decimals := strings.TrimRight(fmt.Sprintf("%03d", ms%1000), "0")
	if decimals == "" {
		decimals = "0"
	}
	return strconv.FormatInt(ms/1000, 10) + "." + decimals
}

// Fields is the values of all fields, by the name NameOf, that the hint is written as:
// none for no hint, two for HintTwice, else one, which may be empty.
func Fields(h wire.Hint) []string {
	switch h.Form {
	case wire.HintNone:
		return nil
	case wire.HintTwice:
		second := wire.Hint{Form: wire.HintSeconds, Value: twice(h.Value)}
		return []string{Format(h), Format(second)}
	}
	return []string{Format(h)}
}
