package report

import (
	"bytes"
	"testing"
	"time"

	"herdscope/engine/wire"
)

func TestEventOfAPage(t *testing.T) {
	var out bytes.Buffer
	e := NewEvents(&out, named())
	e.Observe(wire.Event{
		Kind: wire.PageEnded, At: 1_500_000_000, ID: wire.AttemptID{Client: 417, Request: 12},
		Group: 12, Delay: 1234 * time.Millisecond, Good: true,
	})
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `{"t_s":1.500000,"event":"page_ended","client":417,"group":12,"took_ms":1234.000,"good":true}` + "\n"
	if out.String() != want {
		t.Errorf("%s, want %s", out.String(), want)
	}
}
