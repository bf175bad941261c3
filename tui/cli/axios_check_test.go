//go:build check

package cli

import (
	"testing"
	"time"
)

// axiosBound is how much later than its preset says the retry in the middle of
// all may arrive: what a client, a loopback connection and a server take.
const axiosBound = 15 * time.Millisecond

func TestAxiosIsOnTime(t *testing.T) {
	const clients = 5
	for _, c := range axiosCases {
		t.Run(c.name, func(t *testing.T) {
			late := axiosLateness(t, c, clients)
			median := late[len(late)/2]
			t.Logf("%d retries: earliest %v, median %v, latest %v", len(late), late[0], median, late[len(late)-1])
			if late[0] < -axiosTimer || median > axiosBound {
				t.Errorf("earliest %v, median %v; want not early, and %v at most", late[0], median, axiosBound)
			}
		})
	}
}
