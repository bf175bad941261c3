package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"herdscope/engine"
)

// sameLimit is the longest request body that is looked at to find out whether two
// requests are identical, in bytes.
const sameLimit = 1 << 20

// WithoutSharing has each request with this context sent by itself, whatever
// Policy.Dedup says.
func WithoutSharing(ctx context.Context) context.Context {
	return with(ctx, func(w *wish) { w.alone = true })
}

// noise is the request fields that differ from one request to the next and say
// nothing of what is asked for.
var noise = map[string]bool{
	"Traceparent": true, "Tracestate": true, "Baggage": true, "B3": true,
	"X-Request-Id": true, "X-Correlation-Id": true, "X-Amzn-Trace-Id": true,
	"Date": true, "User-Agent": true,
}

// identify gives a call the number of what it is identical with, and makes it fit to
// be sent for others; it leaves alone what is not to be shared. An error is that of
// the request's body.
func (c *call) identify(req *http.Request) error {
	if c.wish.alone || req.Method == http.MethodConnect || req.Header.Get("Upgrade") != "" ||
		len(req.Trailer) > 0 || !c.t.dedups(req) {
		return nil
	}
	body, whole, err := bodyOf(req)
	if err != nil {
		return &bodyError{fmt.Errorf("read the body: %w", err)}
	}
	if !whole {
		return nil
	}
	c.same = c.t.sameAs(req, c.wish.key, body)
	c.ctx = context.WithoutCancel(req.Context())
	c.req = req.Clone(c.ctx)
	//lint:ignore SA1019 the flight does not end with the first caller.
	c.req.Cancel = nil
	if req.Body == nil || req.Body == http.NoBody {
		return nil
	}
	req.Body.Close() // an error of it is of no use to anybody now
	c.req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	c.req.Body, _ = c.req.GetBody()
	return nil
}

// dedups says whether the policy lets the request share.
func (t *Transport) dedups(req *http.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	d := t.policy.Dedup
	return d.Window > 0 && (d.Methods == engine.DedupAll || !methodOf(req).Safe())
}

// bodyOf is the request's body, if it is not longer than sameLimit. It is used up
// then, or was got from GetBody; a longer one can be read still.
func bodyOf(req *http.Request) (body []byte, whole bool, err error) {
	switch {
	case req.Body == nil || req.Body == http.NoBody:
		return nil, true, nil
	case req.ContentLength > sameLimit:
		return nil, false, nil
	case req.GetBody != nil:
		again, err := req.GetBody()
		if err != nil {
			return nil, false, err
		}
		defer again.Close()
		body, err = io.ReadAll(io.LimitReader(again, sameLimit+1))
		return body, len(body) <= sameLimit, err
	}
	if body, err = io.ReadAll(io.LimitReader(req.Body, sameLimit+1)); err != nil {
		return nil, false, err
	}
	if len(body) <= sameLimit {
		return body, true, nil
	}
	req.Body = &joined{io.MultiReader(bytes.NewReader(body), req.Body), req.Body}
	return nil, false, nil
}

// joined is a body of which a part had been read.
type joined struct {
	io.Reader
	io.Closer
}

// newSecret is what no other transport hashes with, so that nobody outside can look
// for two requests with one number.
func newSecret() (secret [16]byte) {
	_, _ = rand.Read(secret[:]) // never fails
	return secret
}

// sameAs is a number that two requests have in common if they have the same method,
// URL, Idempotency-Key, fields and body. All fields count that are not noise: those
// of authentication, cookies and keys of other names say whose the request is. The
// order of the keys in a JSON object does not count. It is not 0.
func (t *Transport) sameAs(req *http.Request, key string, body []byte) uint64 {
	h := sha256.New()
	h.Write(t.secret[:])
	part := func(text string) {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(text))))
		io.WriteString(h, text)
	}
	url := *req.URL
	url.Fragment, url.RawFragment = "", ""
	part(req.Method)
	part(url.String())
	part(req.Host)
	part(key)
	for _, name := range slices.Sorted(maps.Keys(req.Header)) {
		if name = http.CanonicalHeaderKey(name); noise[name] || strings.HasPrefix(name, "X-B3-") {
			continue
		}
		part(name)
		part(fmt.Sprintf("%q", req.Header[name]))
	}
	part("")
	part(string(canonical(req.Header.Get("Content-Type"), body)))
	return max(1, binary.BigEndian.Uint64(h.Sum(nil)))
}

// canonical is a body without what makes no difference: the order of keys and the
// spaces of JSON. What is not valid JSON stays as it is.
func canonical(contentType string, body []byte) []byte {
	kind, _, _ := mime.ParseMediaType(contentType)
	if kind != "application/json" && !strings.HasSuffix(kind, "+json") {
		return body
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	var value any
	if d.Decode(&value) != nil {
		return body
	}
	if _, err := d.Token(); err != io.EOF {
		return body
	}
	text, err := json.Marshal(value)
	if err != nil {
		return body
	}
	return text
}
