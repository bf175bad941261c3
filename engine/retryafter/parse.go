package retryafter

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"herdscope/engine/wire"
)

// ErrMalformed is in the chain of the errors for values that are no
// Retry-After.
var ErrMalformed = errors.New("neither a number of seconds nor an HTTP date")

// Parse reads the value of one Retry-After field. The time of day, as Unix
// time, settles the century of a two-digit year; nothing else depends on it.
//
// A number of seconds is digits only, however many: one that is too large
// saturates. A sign, a fraction, an exponent or a second number make the value
// malformed, since a guess at what was meant could be far too early.
//
// A date may be in any of the three forms of RFC 9110, section 5.6.7. As that
// section asks for robustness, the case of letters does not matter, and the
// name of the day need not be right. The zone is GMT and no other. Second 60 is
// the second after 59. A year of two digits is the latest that is not more than
// 50 years ahead.
//
// The error wraps ErrMalformed and quotes the beginning of the value. Whoever
// gets it should act as if there were no field.
func Parse(value string, nowUnix int64) (wire.Hint, error) {
	v := strings.Trim(value, " \t")
	if n, ok := parseSeconds(v); ok {
		return wire.Hint{Form: wire.HintSeconds, Value: n}, nil
	}
	if h, ok := parseDate(v, nowUnix); ok {
		return h, nil
	}
	return wire.Hint{}, fmt.Errorf("parse Retry-After %s: %w", quote(value), ErrMalformed)
}

// ParseValues reads all Retry-After fields of one response. There should be at
// most one; of several, the valid one that asks for the longest wait counts, as
// the server may mean any. No fields are no hint. It is an error, that of the
// first field, if there are fields but none is valid.
func ParseValues(values []string, nowUnix int64) (wire.Hint, error) {
	var longest wire.Hint
	var first error
	for _, value := range values {
		h, err := Parse(value, nowUnix)
		if err != nil {
			if first == nil {
				first = err
			}
			continue
		}
		if longest.Form == wire.HintNone || moment(h, nowUnix) > moment(longest, nowUnix) {
			longest = h
		}
	}
	if longest.Form != wire.HintNone {
		return longest, nil
	}
	return longest, first
}

// moment is the Unix time that a hint asks to wait for.
func moment(h wire.Hint, nowUnix int64) int64 {
	if h.Form != wire.HintSeconds {
		return h.Value
	}
	if nowUnix > math.MaxInt64-h.Value {
		return math.MaxInt64
	}
	return nowUnix + h.Value
}

// quote is a value fit for an error message.
func quote(value string) string {
	const most = 40
	if len(value) > most {
		return fmt.Sprintf("%q... (%d bytes)", value[:most], len(value))
	}
	return fmt.Sprintf("%q", value)
}

func parseSeconds(v string) (n int64, ok bool) {
	for i := range len(v) {
		if !isDigit(v[i]) {
			return 0, false
		}
		d := int64(v[i] - '0')
		if n > (math.MaxInt64-d)/10 {
			n = math.MaxInt64
			continue
		}
		n = n*10 + d
	}
	return n, v != ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// dateForm is a form of HTTP-date: names of days, what follows them, and what
// ends it. In the pattern Y, D, h, m and s stand for a digit, _ for a digit or
// a space, and N for a letter of the month's name.
type dateForm struct {
	form    wire.HintForm
	days    []string
	pattern string
	end     string
}

var (
	shortDays = []string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}
	longDays  = []string{
		"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday",
	}
	months = []string{
		"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
	}
	dateForms = []dateForm{
		{wire.HintIMFDate, shortDays, ", DD NNN YYYY hh:mm:ss", " GMT"},
		{wire.HintRFC850Date, longDays, ", DD-NNN-YY hh:mm:ss", " GMT"},
		{wire.HintAsctimeDate, shortDays, " NNN _D hh:mm:ss YYYY", ""},
	}
)

func parseDate(v string, nowUnix int64) (wire.Hint, bool) {
	for _, f := range dateForms {
		d, ok := f.scan(v)
		if !ok {
			continue
		}
		if f.form == wire.HintRFC850Date {
			d.year = d.fullYear(nowUnix)
		}
		if unix, ok := d.unix(); ok {
			return wire.Hint{Form: f.form, Value: unix}, true
		}
	}
	return wire.Hint{}, false
}

// scan reads v in this form without judging whether there is such a date.
func (f dateForm) scan(v string) (date, bool) {
	var d date
	for _, day := range f.days {
		rest, ok := cutPrefixFold(v, day)
		if !ok || len(rest) != len(f.pattern)+len(f.end) {
			continue
		}
		body, end := rest[:len(f.pattern)], rest[len(f.pattern):]
		return d, d.fill(f.pattern, body) && strings.EqualFold(end, f.end)
	}
	return d, false
}

func cutPrefixFold(v, prefix string) (rest string, ok bool) {
	if len(v) < len(prefix) || !strings.EqualFold(v[:len(prefix)], prefix) {
		return "", false
	}
	return v[len(prefix):], true
}

// date is a date and time of day in GMT.
type date struct{ year, month, day, hour, minute, second int }

// fill sets the date's fields from v by a pattern of the same length.
func (d *date) fill(pattern, v string) bool {
	for i := range len(pattern) {
		field := d.field(pattern[i])
		switch {
		case pattern[i] == 'N':
			continue
		case pattern[i] == '_' && v[i] == ' ':
			continue
		case field == nil && v[i] != pattern[i], field != nil && !isDigit(v[i]):
			return false
		case field != nil:
			*field = *field*10 + int(v[i]-'0')
		}
	}
	name := strings.Index(pattern, "NNN")
	for i, month := range months {
		if strings.EqualFold(v[name:name+3], month) {
			d.month = i + 1
		}
	}
	return d.month != 0
}

// field is the field that a character of a pattern stands for, or nil.
func (d *date) field(c byte) *int {
	switch c {
	case 'Y':
		return &d.year
	case 'D', '_':
		return &d.day
	case 'h':
		return &d.hour
	case 'm':
		return &d.minute
	case 's':
		return &d.second
	}
	return nil
}

// fullYear is the year that the date's two digits mean.
func (d date) fullYear(nowUnix int64) int {
	now := time.Unix(min(max(nowUnix, firstSecond), lastSecond), 0).UTC()
	latest := now.AddDate(50, 0, 0)
	d.year += latest.Year() / 100 * 100
	if d.time().After(latest) {
		d.year -= 100
	}
	return d.year
}

func (d date) time() time.Time {
	return time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
}

// unix is the date in Unix time; false if the calendar or the clock has no such
// date.
func (d date) unix() (int64, bool) {
	if d.hour > 23 || d.minute > 59 || d.second > 60 {
		return 0, false
	}
	noon := date{year: d.year, month: d.month, day: d.day, hour: 12}.time()
	return d.time().Unix(), noon.Day() == d.day
}
