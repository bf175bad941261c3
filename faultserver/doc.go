// Package faultserver is the HTTP server of a live run. It takes what arrives
// on its sockets to a server model (package fault), and does on the sockets
// what the model decides: a reply, whole or spoilt, or the end of a connection.
//
// It decides nothing itself. One goroutine owns the model; handlers hand their
// arrivals to it, stamped with the run clock, and wait for its answer. What a
// hand does to a fault or a knob takes the same way and overtakes all traffic
// that hangs, so that it never has to wait for any.
//
// An attempt of the fleet says which one it is in the request field
// wire.AttemptHeader. Other programs may call too. They are told apart by the
// field X-Client-Id, or else by the cookie client_id, or else by their address;
// see FirstForeignClient. Which of their attempts is a retry, nobody tells; see
// RetryWindow for what counts as one.
//
// An API to look at the server and to change its faults listens at an address of
// its own, all paths below /_fault/, in JSON:
//
//	GET    /_fault/stats
//	GET    /_fault/schedule?for=1m
//	POST   /_fault/reset                   settings as at the start, counts at 0
//	GET    /_fault/knobs
//	PATCH  /_fault/knobs
//	GET    /_fault/faults
//	POST   /_fault/faults                  begins at once unless it has a start
//	GET    /_fault/faults/{name}
//	PATCH  /_fault/faults/{name}
//	DELETE /_fault/faults/{name}
//	POST   /_fault/faults/{name}/{do}      do is auto, on, off or now
//
// A change is made whole or not at all, with the field names of scenario files.
//
// Dates in responses, Date included, are by the model's clock, which is the run
// clock since its epoch and whatever skew it is given. A stored reply to an
// Idempotency-Key says Idempotency-Replayed: true.
//
// The server speaks HTTP/1.1 only, so that an attempt is a connection's only
// business and a reset hits nobody else. To a fleet it closes an idle connection
// only where a fault asks for that, so that its clients meet no resets but those
// of the model. It then closes its own side first and goes on reading for a
// second: a request that was on its way is seen and counted, though it can have
// no reply. While an outage refuses, the listener is closed and its port kept;
// what has not been accepted, or not been read, is lost unseen.
//
// How each form of a reply is written is in forms.go, with the bytes of each in
// testdata/wire.
//
// The package imports clock, knob, retryafter, wire, adhoc and fault, and
// gorilla/mux.
// It must not import a driver, metrics or a user interface.
package faultserver
