package engine

import "slices"

// StatusSet is a set of response statuses.
type StatusSet uint8

// The sets of statuses that can be retried. Those after StatusNone are what
// known clients retry by default.
const (
	// StatusTransient is 408, 425, 429, 500, 502, 503 and 504.
	StatusTransient StatusSet = iota
	// StatusServer is every 5xx.
	StatusServer
	// StatusNone is none.
	StatusNone
	// StatusErrors is every 4xx and 5xx.
	StatusErrors
	// StatusServer429 is every 5xx, and 429.
	StatusServer429
	// StatusServer429Not501 is every 5xx but 501, and 429.
	StatusServer429Not501
	// StatusServer408429 is every 5xx, 408 and 429.
	StatusServer408429
	// StatusServer409 is every 5xx, and 409.
	StatusServer409
	// StatusServer408409429 is every 5xx, 408, 409 and 429.
	StatusServer408409429
	// StatusGateway is 500, 502, 503 and 504.
	StatusGateway
	// StatusGateway429 is 429, 500, 502, 503 and 504.
	StatusGateway429
	// StatusGateway408429 is 408, 429, 500, 502, 503 and 504.
	StatusGateway408429
	// StatusKy is 408, 413, 429, 500, 502, 503 and 504.
	StatusKy
	// StatusGot is that of StatusKy, 521, 522 and 524.
	StatusGot
	// StatusHinted is 413, 429 and 503, with which a Retry-After may come.
	StatusHinted
	// StatusUnavailable is 429, 502, 503 and 504, which gRPC takes for
	// UNAVAILABLE.
	StatusUnavailable
)

// statusSets holds each set by its value: single statuses, beside every status
// from a first one on.
var statusSets = []struct {
	name   string
	from   uint16
	but    uint16
	single []uint16
}{
	StatusTransient:       {name: "transient", single: []uint16{408, 425, 429, 500, 502, 503, 504}},
	StatusServer:          {name: "server", from: 500},
	StatusNone:            {name: "none"},
	StatusErrors:          {name: "errors", from: 400},
	StatusServer429:       {name: "server_429", from: 500, single: []uint16{429}},
	StatusServer429Not501: {name: "server_429_not_501", from: 500, but: 501, single: []uint16{429}},
	StatusServer408429:    {name: "server_408_429", from: 500, single: []uint16{408, 429}},
	StatusServer409:       {name: "server_409", from: 500, single: []uint16{409}},
	StatusServer408409429: {name: "server_408_409_429", from: 500, single: []uint16{408, 409, 429}},
	StatusGateway:         {name: "gateway", single: []uint16{500, 502, 503, 504}},
	StatusGateway429:      {name: "gateway_429", single: []uint16{429, 500, 502, 503, 504}},
	StatusGateway408429:   {name: "gateway_408_429", single: []uint16{408, 429, 500, 502, 503, 504}},
	StatusKy:              {name: "ky", single: []uint16{408, 413, 429, 500, 502, 503, 504}},
	StatusGot: {name: "got", single: []uint16{
		408, 413, 429, 500, 502, 503, 504, 521, 522, 524,
	}},
	StatusHinted:      {name: "hinted", single: []uint16{413, 429, 503}},
	StatusUnavailable: {name: "unavailable", single: []uint16{429, 502, 503, 504}},
}

// statusSetNames lists the sets' names in the order of their values.
var statusSetNames = func() []string {
	names := make([]string, len(statusSets))
	for i, set := range statusSets {
		names[i] = set.name
	}
	return names
}()

// String is the set's name.
func (s StatusSet) String() string {
	if int(s) >= len(statusSets) {
		return "unknown"
	}
	return statusSets[s].name
}

// Has says whether the set holds a status.
func (s StatusSet) Has(status uint16) bool {
	if int(s) >= len(statusSets) {
		return false
	}
	set := &statusSets[s]
	if set.from > 0 && status >= set.from && status <= 599 {
		return status != set.but
	}
	return slices.Contains(set.single, status)
}
