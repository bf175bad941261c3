package retryafter

import (
	"strconv"

	"herdscope/engine/wire"
)

// quotaName is the name of the one quota policy that a server has.
const quotaName = `"default"`

// FormatPolicy is a quota as the value of a RateLimit-Policy field, as in
// `"default";q=100;w=10` (draft-ietf-httpapi-ratelimit-headers-10); "" for none.
func FormatPolicy(q wire.Quota) string {
	if q.Units == 0 {
		return ""
	}
	value := quotaName + ";q=" + strconv.FormatInt(q.Units, 10)
	if q.Window > 0 {
		value += ";w=" + strconv.FormatInt(q.Window, 10)
	}
	return value
}

// FormatQuota is what is left of a quota as the value of a RateLimit field, as
// in `"default";r=50;t=30`, of the same draft; "" for none.
func FormatQuota(q wire.Quota) string {
	if q.Units == 0 {
		return ""
	}
	return quotaName + ";r=" + strconv.FormatInt(q.Remaining, 10) +
		";t=" + strconv.FormatInt(q.Reset, 10)
}
