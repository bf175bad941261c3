// Package faultserver is the HTTP server of a live run. It takes what arrives
// on its sockets to a server model (package fault), and does on the sockets
// what the model decides: a reply, or a reset connection.
//
// It decides nothing itself. One goroutine owns the model; handlers hand their
// arrivals to it, stamped with the run clock, and wait for its answer. What a
// hand does to a fault or a knob takes the same way and overtakes all traffic
// that hangs, so that it never has to wait for any.
//
// An attempt of the fleet says which one it is in the request field
// wire.AttemptHeader. Other programs may call too: they are told apart by the
// field X-Client-Id, or else by their address; see FirstForeignClient. Below
// /_fault/ there is an API to look at the server and to switch its faults:
//
//	GET  /_fault/state
//	POST /_fault/faults/{name}/{do}    do is auto, on, off or now
//
// The server speaks HTTP/1.1 only, so that an attempt is a connection's only
// business and a reset hits nobody else, and never closes an idle connection by
// itself, so that its clients meet no resets but those of the model.
//
// The package imports clock, knob, retryafter, wire and fault, and gorilla/mux.
// It must not import a driver, metrics or a user interface.
package faultserver
