package budget

import (
	"fmt"
	"time"
)

// Kind is the law of a budget; the package comment has them all.
type Kind uint8

// The kinds of budget.
const (
	// None grants every retry.
	None Kind = iota
	// AWSLegacy is the retry quota of the AWS SDKs before 2026.
	AWSLegacy
	// AWS2026 is the retry quota of the AWS SDKs from 2026.
	AWS2026
	// DepositPerTry is a bucket that every first try fills a little.
	DepositPerTry
	// DepositPerSuccess is a bucket that every success fills a little.
	DepositPerSuccess
	// Ratio is a share of recent requests and a reserve.
	Ratio
	// GRPC is gRPC's retry throttling.
	GRPC
	// ActiveShare is a share of what is waiting and in flight.
	ActiveShare
	// SREThrottle is client-side throttling, before anything is sent.
	SREThrottle
	// FailureShare stops retries while too much fails.
	FailureShare

	// NumKinds is the number of kinds.
	NumKinds = int(FailureShare) + 1
)

var kindNames = [NumKinds]string{
	"none", "aws-legacy", "aws-2026", "deposit-per-try", "deposit-per-success",
	"ratio", "grpc", "active-share", "sre-throttle", "failure-share",
}

// KindNames lists the kinds' names in the order of their values.
func KindNames() []string { return kindNames[:] }

// String is the kind's name.
func (k Kind) String() string {
	if int(k) >= NumKinds {
		return fmt.Sprintf("unknown(%d)", k)
	}
	return kindNames[k]
}

// Config is a budget's law and its figures. A figure of 0 is the kind's own, as
// the package comment has it, so that Config{Kind: k} is complete and a change
// of the kind brings its figures along; a negative one is 0. Figures that a
// kind does not use are ignored. A change takes effect at the next call: what
// is spent stays spent, and a changed Window forgets what it counted. Nothing
// overflows while figures are at most a million and the Window an hour.
type Config struct {
	Kind Kind
	// Tokens is how many tokens a full bucket holds, in thousandths: the AWS
	// and deposit kinds, and grpc's maxTokens.
	Tokens int64
	// Deposit is what refills a bucket, in thousandths of a token: for the AWS
	// kinds per success at the first try, for deposit-per-try per request, for
	// deposit-per-success and grpc (its tokenRatio) per success.
	Deposit int64
	// Cost is what a retry takes from a bucket, and for grpc what a failed
	// attempt does, in thousandths of a token.
	Cost int64
	// CostThrottled and CostTimeout are Cost after an attempt that was
	// throttled, or timed out.
	CostThrottled, CostTimeout int64
	// Share is a part in thousandths: retries of requests (ratio), retries of
	// all that is active (active-share), failed attempts of requests
	// (failure-share).
	Share int64
	// Floor is how many retries there may be whatever Share says, in
	// thousandths: for ratio per second and in addition, for active-share at
	// once and at least.
	Floor int64
	// Window is how far back ratio, sre-throttle and failure-share count, in
	// ten steps that begin at whole tenths of it on the run clock. A negative
	// one never forgets.
	Window time.Duration
	// K is how many requests sre-throttle lets out for each that the server
	// accepts, in thousandths.
	K int64
}

var own = [NumKinds]Config{
	AWSLegacy: {
		Tokens: 500_000, Deposit: 1000, Cost: 5000, CostThrottled: 5000, CostTimeout: 10_000,
	},
	AWS2026: {
		Tokens: 500_000, Deposit: 1000, Cost: 14_000, CostThrottled: 5000, CostTimeout: 14_000,
	},
	DepositPerTry: {
		Tokens: 5000, Deposit: 100, Cost: 1000, CostThrottled: 1000, CostTimeout: 1000,
	},
	DepositPerSuccess: {
		Tokens: 5000, Deposit: 100, Cost: 1000, CostThrottled: 1000, CostTimeout: 1000,
	},
	Ratio: {Share: 200, Floor: 10_000, Window: 10 * time.Second},
	GRPC: {
		Tokens: 10_000, Deposit: 100, Cost: 1000, CostThrottled: 1000, CostTimeout: 1000,
	},
	ActiveShare:  {Share: 200, Floor: 3000},
	SREThrottle:  {K: 2000, Window: 2 * time.Minute},
	FailureShare: {Share: 100, Window: 2 * time.Minute},
}

// Effective is the configuration with every figure filled in that its kind
// uses, and 0 for the others. An unknown kind is None.
func (c Config) Effective() Config {
	if int(c.Kind) >= NumKinds {
		return Config{}
	}
	d := &own[c.Kind]
	return Config{
		Kind:          c.Kind,
		Tokens:        or(c.Tokens, d.Tokens),
		Deposit:       or(c.Deposit, d.Deposit),
		Cost:          or(c.Cost, d.Cost),
		CostThrottled: or(c.CostThrottled, d.CostThrottled),
		CostTimeout:   or(c.CostTimeout, d.CostTimeout),
		Share:         or(c.Share, d.Share),
		Floor:         or(c.Floor, d.Floor),
		Window:        or(c.Window, d.Window),
		K:             or(c.K, d.K),
	}
}

// or is what a figure counts as beside the kind's own, which is 0 where the
// kind does not use it.
func or[T ~int64](set, own T) T {
	if set == 0 || own == 0 {
		return own
	}
	return max(set, 0)
}

// cost is the price of a retry after an attempt that ended so.
func (c *Config) cost(why Outcome) int64 {
	switch why {
	case Throttled:
		return c.CostThrottled
	case Timeout:
		return c.CostTimeout
	}
	return c.Cost
}
