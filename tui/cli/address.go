package cli

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// exposed says whether other machines can reach an address that a flag gives.
// The error says what is wrong with it.
func exposed(flag, address string) (bool, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return false, usage("%s: %w; want host:port, as in 127.0.0.1:8080", flag, err)
	}
	if n, err := strconv.Atoi(port); err != nil || n < 0 || n > 65535 {
		return false, usage("%s %s: want a port from 0 to 65535", flag, address)
	}
	ip := net.ParseIP(host)
	return host != "localhost" && (ip == nil || !ip.IsLoopback()), nil
}

// explainListen adds to the error of a listener what can be done about it.
func explainListen(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w; port 0 is a free one", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w; ports from 1024 on need no special rights", err)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w; this machine has no such address", err)
	}
	return err
}
