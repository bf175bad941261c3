package rng

import "math/bits"

// logBits is the number of fraction bits of negLog2: enough to resolve a
// nanosecond in a mean of three days.
const logBits = 48

// ln2 is the natural logarithm of 2 with 64 fraction bits.
const ln2 = 0xb17217f7d1cf79ab

// negLog2 is -log2(w / 2^64) with logBits fraction bits; w = 0 counts as 1, so
// the result is at most 64. Squaring a number in [1, 2) doubles its logarithm:
// whether the square reaches 2 is the next bit.
func negLog2(w uint64) uint64 {
	w = max(w, 1)
	zeros := bits.LeadingZeros64(w)
	x := w << zeros // in [1, 2) with 63 fraction bits
	log := uint64(63 - zeros)
	for range logBits {
		hi, lo := bits.Mul64(x, x) // in [1, 4) with 126 fraction bits
		bit := hi >> 63
		log = log<<1 | bit
		x = (hi<<1 | lo>>63) >> bit
		x |= 1 << 63 // the bit that left at the top where the square reached 2
	}
	return 64<<logBits - log
}

// exp2 is 2^f as a number in [1, 2) with 63 fraction bits, for f in [0, 1) with
// 63 fraction bits: the Taylor series of e^(f ln 2), whose rest after the last
// term is below 2^-60.
func exp2(f uint64) uint64 {
	f <<= 1
	var sum uint64
	for i := len(exp2Terms) - 1; i > 0; i-- {
		sum, _ = bits.Mul64(exp2Terms[i]+sum, f)
	}
	return exp2Terms[0] + sum
}

// exp2Terms is (ln 2)^n / n! with 63 fraction bits.
var exp2Terms = [...]uint64{
	0x8000000000000000, 0x58b90bfbe8e7bcd6, 0x1ebfbdff82c58ea8,
	0x071ac235c1282fe3, 0x013b2ab6fba4e773, 0x002bb0ffcf14ce62,
	0x00050c244be1b1e2, 0x00007ff2ff1622c3, 0x00000b160111d2e4,
	0x000000da929e9caf, 0x0000000f267a8ac6, 0x00000000f465639b,
	0x000000000e1deb28, 0x0000000000c0b0ca, 0x0000000000098a4b,
	0x00000000000070dc, 0x00000000000004e4, 0x0000000000000033,
}
