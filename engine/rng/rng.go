// Package rng makes random draws that depend on who asks, not on who asked
// before.
//
// A draw is a function of the root seed, a label, and up to three numbers such
// as client, request and attempt. So one more client, another policy or another
// order of events shifts nobody else's draws, and two policies can be compared
// on the same luck (common random numbers). A run is the same on every machine:
// arithmetic is on integers, and where the normal quantile needs floating point
// it uses only operations that IEEE 754 rounds in one way, none of them fused.
// The package imports nothing of this module.
package rng

import (
	"math/bits"
	"time"
)

// Label keeps the draws for different purposes apart.
type Label uint64

// The purposes.
const (
	Backoff Label = iota + 1
	HintSpread
	Class
	Think
	ArrivalGap
	ArrivalHeld
	ServiceTime
	FaultHit
	Network
	Throttle
	Limit
	BreakerOpen
	Patience
	IdempotencyKey
	ServerHint
	FaultLatency
	Double
	NestedClass
)

// AdHoc is for answers that a request itself describes. It stands apart from the
// purposes of a run, so that a new one of those does not move its draws: people
// have the answers in their tests.
const AdHoc Label = 1 << 16

// At is the draw of the given seed and label for (a, b, c): uniform over all
// 64-bit values.
func At(seed uint64, label Label, a, b, c uint64) uint64 {
	x := mix(seed ^ uint64(label)*0x9e3779b97f4a7c15)
	x = mix(x ^ a*0xbf58476d1ce4e5b9)
	x = mix(x ^ b*0x94d049bb133111eb)
	return mix(x ^ c*0xd6e8feb86659fd93)
}

// mix is a bijection in which every bit of the result depends on every bit of
// the argument: the finaliser of SplitMix64 (Steele, Lea, Flood 2014) in its
// variant 13 by David Stafford, started off zero.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Scale is the draw u as a time uniform in [0, d); 0 if d is not positive.
func Scale(u uint64, d time.Duration) time.Duration {
	if d <= 0 {
		return 0
	}
	hi, _ := bits.Mul64(u, uint64(d))
	return time.Duration(hi)
}

// Below is the draw u as a number uniform in [0, n); 0 if n is 0.
func Below(u, n uint64) uint64 {
	hi, _ := bits.Mul64(u, n)
	return hi
}

// HitMillionth is Hit for a share in millionths: 0 never does, 1,000,000 always
// does.
func HitMillionth(u uint64, share int64) bool {
	return int64(Below(u, 1_000_000)) < share
}

// Hit says whether the draw u falls into a share given in thousandths: 0 never
// does, 1000 always does.
func Hit(u uint64, share int64) bool {
	return int64(Below(u, 1000)) < share
}
