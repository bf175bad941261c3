package wire

// Quota is what a server tells a caller of its rate limit: the fields
// RateLimit-Policy and RateLimit of draft-ietf-httpapi-ratelimit-headers-10, of
// September 2025. A Quota without Units is none.
type Quota struct {
	// Units is the quota, q: how many attempts the limit has room for at most.
	Units int64
	// Window is w: in how many seconds they may be used, or a bucket fills up. 0
	// leaves it out, as windows are that are no whole seconds.
	Window int64
	// Remaining is r: how many would be let in now if nobody else came.
	Remaining int64
	// Reset is t: in how many seconds, rounded up, there will be more than
	// Remaining, or a fixed window ends; 0 if there can be no more.
	Reset int64
}
