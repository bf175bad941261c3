package wire

import (
	"hash/fnv"
	"strconv"
)

// KeyHeader is the HTTP request field by which a server tells the repetition of
// a request from a new one, as FormatKey writes it (draft-ietf-httpapi-
// idempotency-key-header, section 2.1).
const KeyHeader = "Idempotency-Key"

// keyDigits is how many hexadecimal digits FormatKey writes.
const keyDigits = 16

// FormatKey writes an Attempt's Key as the value of KeyHeader: a string of 16
// hexadecimal digits in quotes, as in `"00c0ffee00c0ffee"`. A key of 0 is none,
// and has no field.
func FormatKey(key uint64) string {
	digits := strconv.FormatUint(key, 16)
	b := make([]byte, 0, keyDigits+2)
	b = append(b, '"')
	for range keyDigits - len(digits) {
		b = append(b, '0')
	}
	return string(append(append(b, digits...), '"'))
}

// ParseKey reads the value of a KeyHeader; an empty one is 0. A value that
// FormatKey has not written is hashed to 64 bits, with FNV-1a, and is never 0.
func ParseKey(field string) uint64 {
	if field == "" {
		return 0
	}
	if key, ok := ownKey(field); ok {
		return key
	}
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(field)) // never fails
	return max(hash.Sum64(), 1)
}

// ownKey reads what FormatKey writes for a key that is not 0.
func ownKey(field string) (uint64, bool) {
	if len(field) != keyDigits+2 || field[0] != '"' || field[keyDigits+1] != '"' {
		return 0, false
	}
	key, err := strconv.ParseUint(field[1:keyDigits+1], 16, 64)
	return key, err == nil && key != 0
}
