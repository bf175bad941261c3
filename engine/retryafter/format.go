package retryafter

import (
	"strconv"
	"time"

	"herdscope/engine/wire"
)

// The first and the last second, in Unix time, that the four digits of a year
// can write.
const (
	firstSecond = -62_167_219_200
	lastSecond  = 253_402_300_799
)

// Format is the hint as the value of a Retry-After field; "" for no hint. A
// negative number of seconds becomes 0, and dates before the year 0 or after
// 9999 become the nearest in between. The RFC 850 form has only two digits for
// the year: more than 50 years ahead it is read as a date in the past.
func Format(h wire.Hint) string {
	date := time.Unix(min(max(h.Value, firstSecond), lastSecond), 0).UTC()
	switch h.Form {
	case wire.HintSeconds:
		return strconv.FormatInt(max(h.Value, 0), 10)
	case wire.HintIMFDate:
		return date.Format("Mon, 02 Jan 2006 15:04:05 GMT")
	case wire.HintRFC850Date:
		return date.Format("Monday, 02-Jan-06 15:04:05 GMT")
	case wire.HintAsctimeDate:
		return date.Format("Mon Jan _2 15:04:05 2006")
	}
	return ""
}
