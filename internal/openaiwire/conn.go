// Package openaiwire has what the adapters of OpenAI's interfaces share: requests whose answers are
// streams, the form of errors, the form of arguments and results, and the windows of known models.
package openaiwire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
)

const (
	// DefaultHeaderTimeout and DefaultIdleTimeout are the defaults of an adapter's timeouts.
	DefaultHeaderTimeout = 120 * time.Second
	DefaultIdleTimeout   = 60 * time.Second

	// maxError bounds how many bytes of an error's body are read.
	maxError = 64 << 10
	// drainTimeout is how long reading the rest of a finished answer may take. The rest is read so that
	// the connection can be used again.
	drainTimeout = 100 * time.Millisecond
)

// Conn makes the requests of a model. It is safe for concurrent use.
type Conn struct {
	Client *http.Client
	// Key is sent as a bearer token. Empty: no Authorization header is sent.
	Key string
	// Headers are added to each request.
	Headers map[string]string
	// HeaderTimeout is how long the server may take until the first byte of an answer, and IdleTimeout how
	// long until each later one. A negative time stands for ever.
	HeaderTimeout, IdleTimeout time.Duration
	// Host is the server's name in errors.
	Host    string
	Secrets modelhttp.Secrets
}

// BaseURL parses the URL of a server. It returns an [spool.Invalid] error that names the field BaseURL.
func BaseURL(text string) (*url.URL, error) {
	base, err := url.Parse(text)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, spool.Errorf(spool.Invalid, "BaseURL is not an http or https URL")
	}
	if base.User != nil {
		return nil, spool.Errorf(spool.Invalid, "BaseURL must not have a user, use APIKey or Headers")
	}
	return base, nil
}

// CheckKey returns an [spool.Invalid] error that names the field APIKey if key cannot be sent in a header.
func CheckKey(key string) error {
	if strings.ContainsAny(key, "\r\n\x00 ") {
		return spool.Errorf(spool.Invalid, "APIKey has a blank or a line break in it")
	}
	return nil
}

// With returns a Conn that also redacts the secrets in the extra fields of one request.
func (c *Conn) With(extra map[string]any) *Conn {
	if len(extra) == 0 {
		return c
	}
	with := *c
	with.Secrets = c.Secrets.With(extra)
	return &with
}

// Clean returns a provider's text without secrets and cut to its bounds.
func (c *Conn) Clean(text string) string { return c.Secrets.Clean(text) }

// Open makes a request and returns the answer with the status 200. Any other answer is an error: a
// [spool.ModelError], or ctx's error. A nil body sends none.
func (c *Conn) Open(ctx context.Context, method, target string, body []byte) (*Answer, error) {
	watch := modelhttp.NewWatch(ctx)
	answer, err := c.open(watch, method, target, body) //nolint:contextcheck // the watch has ctx with its own end
	if err != nil {
		watch.Stop()
		return nil, err
	}
	return answer, nil
}

func (c *Conn) open(watch *modelhttp.Watch, method, target string, body []byte) (*Answer, error) {
	request, err := http.NewRequestWithContext(watch.Context(), method, target, bytes.NewReader(body))
	if err != nil {
		return nil, &spool.ModelError{Status: http.StatusBadRequest, Message: "make request", Err: err}
	}
	c.setHeaders(request, body != nil)

	watch.Start(c.HeaderTimeout)
	response, err := c.Client.Do(request)
	watch.Pause()
	if err != nil {
		return nil, c.transportError(watch, err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, c.statusError(watch, response)
	}

	a := &Answer{
		conn: c, watch: watch,
		body: &modelhttp.Body{ReadCloser: response.Body, Watch: watch, First: c.HeaderTimeout, Next: c.IdleTimeout},
		// Closing the body also stops a transport that ignores the context.
		unhook: context.AfterFunc(watch.Context(), func() { _ = response.Body.Close() }),
	}
	a.peek()
	return a, nil
}

func (c *Conn) setHeaders(r *http.Request, hasBody bool) {
	if hasBody {
		r.Header.Set("Content-Type", "application/json")
	}
	r.Header.Set("Accept", "text/event-stream")
	if c.Key != "" {
		r.Header.Set("Authorization", "Bearer "+c.Key)
	}
	for name, value := range c.Headers {
		r.Header.Set(name, value)
	}
}

// Answer is the body of an answer. The server's silence ends it with an error. It is not safe for concurrent
// use.
type Answer struct {
	// Whole is true if the answer is one JSON object instead of a stream. Its first byte tells, and not the
	// Content-Type, because gateways confuse the two types.
	Whole bool

	conn   *Conn
	watch  *modelhttp.Watch
	body   *modelhttp.Body
	unhook func() bool
	// head is what peek has read and Read has not yet returned, and headErr the error that comes after it.
	head    []byte
	headErr error
}

// maxSpace bounds the white space before the first byte that tells what an answer is.
const maxSpace = 1 << 10

// peek reads the first bytes of the answer, and sets Whole.
func (a *Answer) peek() {
	buffer := make([]byte, 0, maxSpace)
	for a.headErr == nil && len(buffer) < cap(buffer) {
		var n int
		n, a.headErr = a.body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if first := bytes.TrimLeft(buffer, " \t\r\n"); len(first) > 0 {
			a.Whole = first[0] == '{'
			break
		}
	}
	a.head = buffer
}

// Read reads from the answer. [Answer.Err] describes its errors.
func (a *Answer) Read(p []byte) (int, error) {
	switch {
	case len(a.head) > 0:
		n := copy(p, a.head)
		a.head = a.head[n:]
		return n, nil
	case a.headErr != nil:
		return 0, a.headErr
	default:
		return a.body.Read(p)
	}
}

// Close ends the request.
func (a *Answer) Close() {
	a.unhook()
	_ = a.body.Close()
	a.watch.Stop()
}

// Ended returns the error of the caller's context, or nil while that context goes on.
func (a *Answer) Ended() error { return a.watch.Ended() }

// Drain reads what is left of a finished answer, for a tenth of a second at most.
func (a *Answer) Drain() {
	a.body.Next = drainTimeout
	_, _ = io.CopyN(io.Discard, a.body, maxError)
}

// All returns an answer of at most limit bytes as a whole.
func (a *Answer) All(limit int64) ([]byte, error) {
	body, err := io.ReadAll(io.LimitReader(a, limit+1))
	switch {
	case err != nil:
		return nil, a.Err(err)
	case int64(len(body)) > limit:
		return nil, &spool.ModelError{Message: fmt.Sprintf("answer is larger than %d bytes", limit)}
	}
	return body, nil
}

// Err returns the error for an answer that was cut off, from an error of Read.
func (a *Answer) Err(err error) error {
	if ended := a.watch.Ended(); ended != nil {
		return ended
	}
	if a.watch.Silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s was silent for %s", a.conn.Host, a.watch.Limit()),
			Err:     context.DeadlineExceeded,
		}
	}
	return &spool.ModelError{Message: a.conn.Clean("the answer was cut off: " + err.Error()), Err: err}
}

// transportError returns the error for a request without a response.
func (c *Conn) transportError(watch *modelhttp.Watch, err error) error {
	if ended := watch.Ended(); ended != nil {
		return ended
	}
	if watch.Silent() {
		return &spool.ModelError{
			Message: fmt.Sprintf("%s did not answer within %s", c.Host, watch.Limit()),
			Err:     context.DeadlineExceeded,
		}
	}
	// The error must not contain the URL, because its query may have a key.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	return &spool.ModelError{Message: c.Clean("reach " + c.Host + ": " + err.Error()), Err: err}
}
