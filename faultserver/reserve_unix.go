//go:build unix

package faultserver

import (
	"io"
	"net"
	"os"
	"syscall"
)

// reserve binds a socket that does not listen to an address, so that its port is
// given to nobody else. A listener may still be opened there.
func reserve(a net.Addr) io.Closer {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return nothing{}
	}
	family, address := syscall.AF_INET, syscall.Sockaddr(nil)
	if ip := tcp.IP.To4(); ip != nil {
		address = &syscall.SockaddrInet4{Port: tcp.Port, Addr: [4]byte(ip)}
	} else {
		family = syscall.AF_INET6
		address = &syscall.SockaddrInet6{Port: tcp.Port, Addr: [16]byte(tcp.IP.To16())}
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nothing{}
	}
	syscall.CloseOnExec(fd)
	held := os.NewFile(uintptr(fd), "reserved port")
	if syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1) != nil ||
		syscall.Bind(fd, address) != nil {
		_ = held.Close()
		return nothing{}
	}
	return held
}
