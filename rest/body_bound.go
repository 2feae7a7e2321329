package rest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// BodyBounds limits what request bodies cost. If a field is zero, its default holds. The
// length of one body is limited by [MaxBody].
type BodyBounds struct {
	// Memory limits the total bytes that the JSON bodies of all active requests take, as text
	// and decoded. A request that would exceed it is answered 503. A quarter of it is reserved
	// for routes whose [MaxBody] is at most 1 MiB. Defaults to no limit.
	Memory int64
	// Values limits how many values and keys a JSON body may have. A body with more is
	// answered 413. Each value counts as 512 bytes of Memory. Defaults to no limit.
	Values int
	// Depth limits how deep the lists and objects of a JSON body may nest. Defaults to 64.
	Depth int
	// Timeout limits how long a client may take to send a JSON body. Defaults to no limit
	// besides the server's.
	Timeout time.Duration
	// UnreadTimeout is the same limit for a body that no route reads, for example because the
	// client is not authenticated: net/http waits for such a body before it sends the answer.
	// Defaults to no limit besides the server's.
	UnreadTimeout time.Duration
	// Closing ends when the program shuts down. From then on, clients have one second to send
	// the rest of their bodies. Defaults to never. It needs a Timeout.
	Closing context.Context //nolint:containedctx // the lifetime of the program
}

// BoundBodies sets the limits for request bodies.
//
// Defaults to the zero [BodyBounds].
func BoundBodies(b BodyBounds) APIOption { return apiOption(func(c *apiConfig) { c.bounds = b }) }

const (
	// valueCost is the number of bytes that one value of a body counts for. It is about the
	// size of a struct with a few fields, including what a growing list of them leaves as
	// garbage.
	valueCost = 512
	// usualBody is the limit for JSON bodies without [MaxBody].
	usualBody = 1 << 20
	// closingGrace is how long a client may still send a body after the shutdown begins.
	closingGrace = time.Second
	// firstRead is the size in bytes of the first buffer for a body.
	firstRead = 4 << 10
)

// bodyBudget counts the bytes that the bodies of all active requests take.
type bodyBudget struct {
	mu    sync.Mutex
	taken int64
}

// takeMemory reserves n bytes of [BodyBounds.Memory] for the request's body. A body with a
// bound over 1 MiB may use only three quarters of the budget.
func (c *routeContext) takeMemory(n, bound int64) error {
	a := c.route.api
	most := a.config.bounds.Memory
	if most == 0 {
		return nil
	}
	if bound > usualBody {
		most -= most / 4
	}
	a.bodies.mu.Lock()
	defer a.bodies.mu.Unlock()
	if a.bodies.taken+n > most {
		return &Error{
			Status: http.StatusServiceUnavailable, Code: "unavailable",
			Detail: "Too many bodies are being read at the same time. Try again.", Header: http.Header{"Retry-After": {"1"}},
		}
	}
	a.bodies.taken += n
	c.held += n
	return nil
}

func (c *routeContext) releaseMemory() {
	if c.held == 0 {
		return
	}
	budget := &c.route.api.bodies
	budget.mu.Lock()
	defer budget.mu.Unlock()
	budget.taken -= c.held
	c.held = 0
}

// ReleaseBody gives back, before the request ends, what its body has taken of
// [BodyBounds.Memory]. A handler that waits for a long time calls it once it no longer needs
// the body.
func ReleaseBody(ctx context.Context) {
	if c := contextOf(ctx); c != nil {
		c.releaseMemory()
	}
}

// limitRead sets the deadline for sending the body. Call done with the result of reading.
func (c *routeContext) limitRead() (done func(err error)) {
	bounds := &c.route.api.config.bounds
	if bounds.Timeout == 0 {
		return func(error) {}
	}
	// The deadline is set here, for the body only: a ReadTimeout of the http.Server would end
	// event streams too. The error is ignored, because a test recorder has no deadlines.
	control := http.NewResponseController(c.response.writer)
	_ = control.SetReadDeadline(time.Now().Add(bounds.Timeout))
	stop, hurried := func() bool { return true }, make(chan struct{})
	if bounds.Closing != nil {
		stop = context.AfterFunc(bounds.Closing, func() {
			defer close(hurried)
			_ = control.SetReadDeadline(time.Now().Add(closingGrace))
		})
	}
	return func(err error) {
		if !stop() {
			<-hurried // a deadline that is set later would cancel the request
		}
		if err == nil { // after an error net/http still waits for the rest of the body
			_ = control.SetReadDeadline(time.Time{})
		}
	}
}

// bodyText reads the whole body within its limits.
func (c *routeContext) bodyText() (*bytes.Buffer, error) {
	limit := c.route.bodyBytes(usualBody)
	if c.request.ContentLength > limit {
		c.response.writer.Header().Set("Connection", "close") // nobody reads the body
		return nil, &http.MaxBytesError{Limit: limit}
	}
	buf := c.route.api.buffers.newBuffer()
	if c.request.Body == nil || c.request.Body == http.NoBody {
		return buf, nil
	}
	done := c.limitRead()
	err := c.readText(buf, http.MaxBytesReader(c.response.writer, c.request.Body, limit), limit)
	done(err)
	if err == nil {
		return buf, nil
	}
	c.route.api.buffers.recycle(buf)
	var large *http.MaxBytesError
	if errors.As(err, &large) || asError(err) != nil {
		return nil, err
	}
	return nil, &Error{Status: http.StatusBadRequest, Code: codeMalformed, Detail: "The body could not be read.", Err: err}
}

// readText reads a body of at most limit bytes. The buffer grows with the data, up to the
// announced length. Memory is reserved from the budget before it is allocated.
func (c *routeContext) readText(buf *bytes.Buffer, from io.Reader, limit int64) error {
	most := limit + 1 // room for one more byte: the last read then returns io.EOF
	if n := c.request.ContentLength; n >= 0 {
		most = n + 1
	}
	if err := c.takeMemory(int64(buf.Cap()), limit); err != nil {
		return err
	}
	for {
		if buf.Available() == 0 {
			size := min(max(firstRead, 2*int64(buf.Cap())), most)
			if err := c.takeMemory(size-int64(buf.Cap()), limit); err != nil {
				return err
			}
			*buf = *bytes.NewBuffer(append(make([]byte, 0, size), buf.Bytes()...))
		}
		room := buf.AvailableBuffer()
		n, err := from.Read(room[:cap(room)])
		buf.Write(room[:n])
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err //nolint:wrapcheck // the caller checks its kind
		}
	}
}

// countValues reserves the memory for decoding a body. It returns an error if the body has too
// many values. It only scans the text; text that is not JSON is left to the decoder.
func (c *routeContext) countValues(text []byte) error {
	most := c.route.api.config.bounds.Values
	if most == 0 {
		return nil
	}
	values, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case quoted:
			if c == '\\' {
				i++
			}
		case c == '[', c == '{', c == ',', c == ':':
			values++
		}
	}
	if values > most {
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: "too_large",
			Detail: "The body has more than " + strconv.Itoa(most) + " values.",
		}
	}
	return c.takeMemory(int64(values)*valueCost, c.route.bodyBytes(usualBody))
}
