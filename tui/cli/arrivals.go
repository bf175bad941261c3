package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"herdscope/faultserver"
)

// stdoutName is the file name that is the standard output.
const stdoutName = "-"

// arrivalLog writes what came to a server and what became of it, one JSON object
// per line, at once, so that a reader sees it. It is safe for concurrent use; nil
// writes nothing.
type arrivalLog struct {
	mu     sync.Mutex
	to     io.Writer
	file   io.Closer // nil if the file is not ours to close
	failed error
	ended  chan struct{} // closed when a line could not be written
}

// openArrivals opens the log of the given name; nil if there is no name.
func (a *app) openArrivals(path string) (*arrivalLog, error) {
	switch path {
	case "":
		return nil, nil
	case stdoutName:
		return &arrivalLog{to: a.out, ended: make(chan struct{})}, nil
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return nil, usage("--log: %w", err)
	}
	return &arrivalLog{to: file, file: file, ended: make(chan struct{})}, nil
}

// arrivalLine is one line of the log.
type arrivalLine struct {
	Seconds float64 `json:"t_s"`
	Time    string  `json:"time"`
	Client  string  `json:"client"`
	Request uint32  `json:"request"`
	Try     uint16  `json:"try"`
	Method  string  `json:"method"`
	Path    string  `json:"path"`
	End     string  `json:"end"`
	// Status is null unless there was an answer, Fault unless a fault made it.
	Status     *int    `json:"status"`
	Fault      *string `json:"fault"`
	TookMillis float64 `json:"took_ms"`
}

// micros is a time in whole microseconds, so that no line shows more digits than
// a clock has.
func micros(d time.Duration) float64 { return float64(d.Round(time.Microsecond).Microseconds()) }

func (l *arrivalLog) write(v faultserver.Arrival) {
	if l == nil {
		return
	}
	line := arrivalLine{
		Seconds: micros(v.At.Duration()) / 1e6, Time: v.Time.UTC().Format(time.RFC3339Nano),
		Client: v.Client, Request: uint32(v.ID.Request), Try: v.ID.Try,
		Method: v.Method, Path: v.Path, End: string(v.End),
		TookMillis: micros(v.Took) / 1e3,
	}
	if v.Status != 0 {
		line.Status = &v.Status
	}
	if v.Fault != "" {
		line.Fault = &v.Fault
	}
	text, err := json.Marshal(line)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failed != nil {
		return
	}
	if err == nil {
		_, err = l.to.Write(append(text, '\n'))
	}
	if err != nil {
		l.failed = fmt.Errorf("--log: %w", err)
		close(l.ended)
	}
}

// broken is closed when the log cannot be written any more; nil if there is none.
func (l *arrivalLog) broken() <-chan struct{} {
	if l == nil {
		return nil
	}
	return l.ended
}

// close closes the file and returns why the log ended early, if it did.
func (l *arrivalLog) close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return l.failed
	}
	if err := l.file.Close(); err != nil && l.failed == nil {
		return fmt.Errorf("--log: %w", err)
	}
	return l.failed
}
