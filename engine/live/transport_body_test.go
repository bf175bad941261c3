package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"herdscope/engine/wire"
)

// stream hides what a reader is, so that a request gets no GetBody from it, and
// tells whether it was closed.
type stream struct {
	io.Reader
	closed atomic.Int64
}

func (s *stream) Close() error { s.closed.Add(1); return nil }

// checksums is a server that keeps the checksum of each body, and answers the
// first of them with 503.
func checksums(t *testing.T, sums chan<- uint32) (url string) {
	var n atomic.Int64
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		sums <- crc32.ChecksumIEEE(body)
		if n.Add(1) == 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
}

// TestEachAttemptHasTheWholeBody is N-E11 of the field bugs.
func TestEachAttemptHasTheWholeBody(t *testing.T) {
	content := bytes.Repeat([]byte("a body "), 50_000)
	sums := make(chan uint32, 2)
	url := checksums(t, sums)
	tr := travel(t, patient())
	code, _, err := do(tr, request(t, t.Context(), "PUT", url, bytes.NewReader(content)))
	if code != 200 || err != nil {
		t.Fatal(code, err)
	}
	want := crc32.ChecksumIEEE(content)
	if a, b := <-sums, <-sums; a != want || b != want {
		t.Errorf("checksums %x and %x, want %x twice", a, b, want)
	}
}

// TestABodyThatCannotBeRewoundIsNotRetried is N-E11: the retry is refused, and
// the reason is said.
func TestABodyThatCannotBeRewoundIsNotRetried(t *testing.T) {
	sums := make(chan uint32, 2)
	url := checksums(t, sums)
	tr := travel(t, patient())
	body := &stream{Reader: strings.NewReader("once")}
	resp, err := tr.RoundTrip(request(t, t.Context(), "PUT", url, body))
	if err != nil || resp.StatusCode != 503 {
		t.Fatal(resp, err)
	}
	resp.Body.Close()
	if r, _ := ResultOf(resp); r.Attempts != 1 || r.NoRetry != ErrBodyUsed {
		t.Errorf("%+v, want 1 attempt and the reason", r)
	}
	if got := <-sums; got != crc32.ChecksumIEEE([]byte("once")) || len(sums) != 0 {
		t.Errorf("checksum %x and %d more", got, len(sums))
	}
	until(t, "the body closed once", func() bool { return body.closed.Load() == 1 })
	tr.rests(t)
}

func TestABodyThatNobodyHasReadIsGoodForARetry(t *testing.T) {
	tries := 0
	tr := travel(t, patient(), WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
		defer r.Body.Close()
		if tries++; tries < 3 {
			return nil, &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}
		}
		text, err := io.ReadAll(r.Body)
		return response(200, string(text)), err
	})))
	body := &stream{Reader: strings.NewReader("fresh")}
	code, text, err := do(tr, request(t, t.Context(), "PUT", anywhere, body))
	if code != 200 || text != "fresh" || err != nil {
		t.Errorf("%d %q %v", code, text, err)
	}
	if n := body.closed.Load(); n != 1 {
		t.Errorf("the body was closed %d times", n)
	}
}

// TestTheUploadThatBreaksOff is N-E11: a connection that is reset midway.
func TestTheUploadThatBreaksOff(t *testing.T) {
	for _, rewinds := range []bool{true, false} {
		t.Run(fmt.Sprintf("rewinds=%v", rewinds), func(t *testing.T) {
			var lengths []int
			tr := travel(t, patient(), WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
				defer r.Body.Close()
				if len(lengths) == 0 {
					n, _ := r.Body.Read(make([]byte, 10))
					lengths = append(lengths, n)
					return nil, syscall.EPIPE
				}
				text, err := io.ReadAll(r.Body)
				lengths = append(lengths, len(text))
				return response(200, ""), err
			})))
			var body io.Reader = strings.NewReader(strings.Repeat("x", 100))
			if !rewinds {
				body = &stream{Reader: body}
			}
			code, _, err := do(tr, request(t, t.Context(), "PUT", anywhere, body))
			if rewinds && (code != 200 || len(lengths) != 2 || lengths[1] != 100) {
				t.Errorf("%d %v after %v", code, err, lengths)
			}
			refused := errors.Is(err, ErrBodyUsed) && errors.Is(err, syscall.EPIPE) && errors.Is(err, ErrFailed)
			if !rewinds && (!refused || len(lengths) != 1) {
				t.Errorf("%v after %v, want the reason and the cause", err, lengths)
			}
		})
	}
}

func TestABodyThatFailsEndsTheRequest(t *testing.T) {
	url := serve(t, func(_ http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
	p := patient()
	p.Breaker.Failures = 1
	tr := travel(t, p)
	mine := errors.New("disk on fire")
	r := request(t, t.Context(), "PUT", url, io.MultiReader(strings.NewReader("begin"), errReader{mine}))
	r.GetBody = func() (io.ReadCloser, error) { t.Error("rewound"); return nil, mine }
	if _, _, err := do(tr, r); !errors.Is(err, mine) {
		t.Errorf("%v, want the body's own error", err)
	}
	if tr.Breaker(0) != wire.Closed || tr.count(wire.AttemptSent) != 1 {
		t.Errorf("breaker %v after %d attempts", tr.Breaker(0), tr.count(wire.AttemptSent))
	}
}

type errReader struct{ error }

func (r errReader) Read([]byte) (int, error) { return 0, r.error }

func TestABodyThatDoesNotRewindEndsTheRequest(t *testing.T) {
	tr := travel(t, patient(), WithBase(status(503)))
	mine := errors.New("gone")
	r := request(t, t.Context(), "PUT", anywhere, strings.NewReader("x"))
	r.GetBody = func() (io.ReadCloser, error) { return nil, mine }
	if _, _, err := do(tr, r); !errors.Is(err, mine) {
		t.Errorf("%v, want the error of GetBody", err)
	}
	tr.rests(t)
}

func TestTheBodyIsClosedWhateverHappens(t *testing.T) {
	p := patient()
	p.Queue.Limit, p.Queue.Capacity = 1, 1
	tr := travel(t, p, WithBase(tripFunc(hang)))
	ctx, cancel := context.WithCancel(t.Context())
	bodies := make([]*stream, 3)
	ends := make(chan error, len(bodies))
	for i := range bodies {
		bodies[i] = &stream{Reader: strings.NewReader("x")}
		go func() {
			_, _, err := do(tr, request(t, ctx, "PUT", anywhere, bodies[i]))
			ends <- err
		}()
		if i < 2 {
			until(t, "one runs, one waits", func() bool {
				c := tr.Counts()
				return c.Running+c.Queued == i+1
			})
		}
	}
	if err := <-ends; !errors.Is(err, ErrShed) {
		t.Error(err)
	}
	cancel()
	<-ends
	<-ends
	cancelled := &stream{Reader: strings.NewReader("x")}
	if _, _, err := do(tr, request(t, ctx, "PUT", anywhere, cancelled)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	for i, b := range append(bodies, cancelled) {
		if n := b.closed.Load(); n != 1 {
			t.Errorf("body %d was closed %d times", i, n)
		}
	}
}

// drip is a response body that brings a byte each time after a pause.
type drip struct {
	ctx   context.Context
	left  int
	every time.Duration
}

func (d *drip) Read(p []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	select {
	case <-time.After(d.every):
		d.left--
		p[0] = '.'
		return 1, nil
	case <-d.ctx.Done():
		return 0, d.ctx.Err()
	}
}

func (d *drip) Close() error { return nil }

// TestTheAttemptLastsUntilItsBodyIsRead is N-E12: a body of 2 s passes within a
// timeout of 5 s, and does not within 1 s.
func TestTheAttemptLastsUntilItsBodyIsRead(t *testing.T) {
	for timeout, want := range map[time.Duration]int{5 * time.Second: 20, time.Second: 9} {
		t.Run(timeout.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := patient()
				p.Breaker.Failures, p.Queue.Limit = 1, 1
				tr := travel(t, p, WithDefaultTimeout(timeout),
					WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
						resp := response(200, "")
						resp.Body = &drip{r.Context(), 20, 101 * time.Millisecond}
						return resp, nil
					})))
				resp, err := tr.RoundTrip(request(t, t.Context(), "GET", anywhere, nil))
				if err != nil {
					t.Fatal(err)
				}
				if c := tr.Counts(); c.Running != 1 {
					t.Errorf("%+v while the body is read, want its slot held", c)
				}
				text, err := io.ReadAll(resp.Body)
				if len(text) != want {
					t.Errorf("read %d bytes, %v; want %d", len(text), err, want)
				}
				if want == 20 && err != nil || want != 20 && !errors.Is(err, ErrTimedOut) {
					t.Errorf("error %v", err)
				}
				if open := tr.Breaker(0) == wire.Open; open != (want != 20) {
					t.Errorf("breaker %v", tr.Breaker(0))
				}
				tr.rests(t)
				time.Sleep(time.Hour)
				if n := tr.count(wire.AttemptSent); n != 1 {
					t.Errorf("%d attempts: there is no retry once the caller has the response", n)
				}
			})
		})
	}
}

func TestABodyThatBreaksOffFailsTheAttemptAndIsNotRetried(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "10")
		fmt.Fprint(w, "half")
	})
	p := patient()
	p.Breaker.Failures = 1
	tr := travel(t, p)
	code, body, err := get(t, tr, t.Context(), url)
	if code != 200 || body != "half" || err != io.ErrUnexpectedEOF {
		t.Errorf("%d %q %v", code, body, err)
	}
	if tr.Breaker(0) != wire.Open || tr.count(wire.AttemptSent) != 1 {
		t.Errorf("breaker %v after %d attempts", tr.Breaker(0), tr.count(wire.AttemptSent))
	}
	tr.rests(t)
}

func TestABodyThatIsClosedEarlyEndsTheAttempt(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush()
		<-release
	})
	defer close(release)
	tr := travel(t, patient())
	resp, err := tr.RoundTrip(request(t, t.Context(), "GET", url, nil))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Counts().Running != 1 {
		t.Error("no slot is held")
	}
	resp.Body.Close()
	resp.Body.Close()
	tr.rests(t)
	if n := tr.count(wire.RequestDone); n != 1 || tr.events[len(tr.events)-1].Outcome != wire.Succeeded {
		t.Errorf("%d ends, the last event is %+v", n, tr.events[len(tr.events)-1])
	}
}

func TestAResponseWithoutBodyNeedsNoClosing(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusNoContent) })
	tr := travel(t, patient())
	for _, method := range []string{"HEAD", "DELETE"} {
		if _, err := tr.RoundTrip(request(t, t.Context(), method, url, nil)); err != nil {
			t.Fatal(err)
		}
	}
	tr.rests(t)
}

func TestLongErrorPages(t *testing.T) {
	page := strings.Repeat("busy ", drainLimit)
	var n atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, page)
	})
	for _, p := range []struct {
		attempts int
		total    time.Duration
	}{{3, 0}, {1, 0}, {3, time.Minute}} {
		policy := patient()
		if p.total > 0 {
			policy = slow()
		}
		policy.Retry.Attempts, policy.Retry.Total = p.attempts, p.total
		tr := travel(t, policy)
		code, body, err := get(t, tr, t.Context(), url)
		if code != 503 || body != page || err != nil {
			t.Errorf("%+v: %d with %d bytes, %v", p, code, len(body), err)
		}
		tr.rests(t)
	}
	if n.Load() != 5 {
		t.Errorf("%d at the server, want 3 and 1 and 1", n.Load())
	}
}

func TestAnErrorThatIsNotRetriedIsNotKeptBack(t *testing.T) {
	release := make(chan struct{})
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		w.(http.Flusher).Flush()
		<-release
		io.WriteString(w, "not here")
	})
	tr := travel(t, patient())
	resp, err := tr.RoundTrip(request(t, t.Context(), "GET", url, nil))
	if err != nil {
		t.Fatal(err)
	}
	if tr.Counts().Running != 1 {
		t.Error("no slot is held while the body is on its way")
	}
	close(release)
	if body, err := io.ReadAll(resp.Body); string(body) != "not here" || err != nil {
		t.Errorf("%q %v", body, err)
	}
	tr.rests(t)
}

func TestSwitchingProtocolsKeepsTheWriter(t *testing.T) {
	url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		c, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		rw.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		rw.Flush()
		line, _ := rw.ReadString('\n')
		rw.WriteString(line)
		rw.Flush()
	})
	tr := travel(t, patient())
	r := request(t, t.Context(), "GET", url, nil)
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "echo")
	resp, err := tr.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	both, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		t.Fatal("the body cannot be written to")
	}
	io.WriteString(both, "echo\n")
	if text, err := io.ReadAll(both); string(text) != "echo\n" || err != nil {
		t.Errorf("%q %v", text, err)
	}
	both.Close()
	tr.rests(t)
}

func TestAnErrorPageThatBreaksOffIsRetried(t *testing.T) {
	var n atomic.Int64
	url := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if n.Add(1) == 1 {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		io.WriteString(w, "half")
	})
	tr := travel(t, patient())
	if code, body, err := get(t, tr, t.Context(), url); code != 200 || body != "half" || err != nil {
		t.Errorf("%d %q %v, want the second answer", code, body, err)
	}
	tr.rests(t)
}

// TestAnAttemptThatIsOverReadsNothing has a base that does not listen to its
// context, and comes for the body when a later attempt has it.
func TestAnAttemptThatIsOverReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		stale := make(chan error, 1)
		tr := travel(t, patient(), WithDefaultTimeout(time.Second),
			WithBase(tripFunc(func(r *http.Request) (*http.Response, error) {
				defer r.Body.Close()
				if tries.Add(1) == 1 {
					time.Sleep(1200 * time.Millisecond)
					_, err := r.Body.Read(make([]byte, 1))
					stale <- err
					return nil, err
				}
				time.Sleep(500 * time.Millisecond)
				text, err := io.ReadAll(r.Body)
				return response(200, string(text)), err
			})))
		body := &stream{Reader: strings.NewReader("whole")}
		code, text, err := do(tr, request(t, t.Context(), "PUT", anywhere, body))
		if code != 200 || text != "whole" || err != nil {
			t.Errorf("%d %q %v", code, text, err)
		}
		if err := <-stale; err != errAttemptOver {
			t.Errorf("the first attempt read the body: %v", err)
		}
		if n := body.closed.Load(); n != 1 {
			t.Errorf("the body was closed %d times", n)
		}
	})
}
