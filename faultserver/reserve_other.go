//go:build !unix

package faultserver

import (
	"io"
	"net"
)

// reserve does nothing here.
func reserve(net.Addr) io.Closer { return nothing{} }
