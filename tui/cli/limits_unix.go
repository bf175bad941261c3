//go:build unix

package cli

import (
	"fmt"
	"syscall"

	"herdscope/scenarios"
)

// Both ends of every connection are in this process; spareFiles is for all that
// is open besides.
const (
	filesPerClient = 2
	spareFiles     = 64
)

// allowLive makes sure that the process may open as many files as a live run of
// s needs, and raises its own limit if that helps.
func allowLive(s scenarios.Scenario) error {
	need := uint64(s.Fleet.Clients)*filesPerClient + spareFiles
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return fmt.Errorf("ask for the limit of open files: %w", err)
	}
	if uint64(l.Cur) >= need {
		return nil
	}
	if uint64(l.Max) >= need {
		l.Cur = l.Max
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
			return fmt.Errorf("raise the limit of open files to %d: %w", need, err)
		}
		return nil
	}
	return fmt.Errorf("a live run of %d clients needs %d open files and the limit is %d; "+
		"raise it with `ulimit -n %d`, or use fewer clients or --virtual",
		s.Fleet.Clients, need, uint64(l.Max), need)
}

// mostConnections is how many connections a server may have so that spareFiles
// are left; 0 is any number.
func mostConnections() int {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0
	}
	files := int(min(uint64(l.Cur), 1<<30))
	return max(files-spareFiles, files/2, 1)
}
