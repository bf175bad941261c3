//go:build unix

package live

import (
	"strconv"
	"syscall"
)

// openFilesLimit is the limit as " 1024"; empty if it cannot be had.
func openFilesLimit() string {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return ""
	}
	return " " + strconv.FormatUint(uint64(l.Cur), 10)
}
