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

// BodyBounds bound what the bodies of requests cost. The zero value of a field is its default.
// [MaxBody] bounds the length of each body.
type BodyBounds struct {
	// Memory bounds the bytes that the JSON bodies of all requests under way take: as they come,
	// and as they are decoded. A request beyond it is answered 503. A quarter of it is kept for
	// routes whose bodies have up to 1 MiB. Defaults to no bound.
	Memory int64
	// Values bounds how many values and keys a JSON body has. A body with more is answered 413.
	// Each value counts as 512 bytes of Memory. Defaults to no bound.
	Values int
	// Depth bounds how many lists and objects of a JSON body are open at once. Defaults to 64.
	Depth int
	// Timeout bounds how long a client may take to send a JSON body. Defaults to no bound of its
	// own.
	Timeout time.Duration
	// UnreadTimeout bounds the same for a body that no route reads, for example because the
	// client is not known: net/http waits for such a body before it sends the answer. Defaults to
	// no bound of its own.
	UnreadTimeout time.Duration
	// Closing ends when the program shuts down. Clients have one more second then to send their
	// bodies. Defaults to never.
	Closing context.Context //nolint:containedctx // the lifetime of the program
}

// BoundBodies sets what the bodies of requests may cost.
//
// Defaults to the zero [BodyBounds].
func BoundBodies(b BodyBounds) APIOption { return apiOption(func(c *apiConfig) { c.bounds = b }) }

const (
	// valueCost is what a value of a body counts as, in bytes. It is about what a struct of some
	// fields takes, with what a growing list of them leaves behind.
	valueCost = 512
	// usualBody is the bound of a JSON body without [MaxBody].
	usualBody = 1 << 20
	// closingGrace is how long a client may take to send a body once the program shuts down.
	closingGrace = time.Second
	// firstRead is how many bytes are there for a body before it comes.
	firstRead = 4 << 10
)

// bodyBudget counts what the bodies of all requests under way take.
type bodyBudget struct {
	mu    sync.Mutex
	taken int64
}

// takeMemory takes bytes of the budget for the body of the request. Bodies whose bound is large
// leave a quarter of it to others.
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
			Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "Too many bodies are being read at the same time. Try again.",
			Header: http.Header{"Retry-After": {"1"}},
		}
	}
	a.bodies.taken += n
	c.held += n
	return nil
}

// releaseMemory gives back what the body has taken.
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

// ReleaseBody gives back what the body of the request has taken of [BodyBounds.Memory] before the
// request ends. A handler that waits for long calls it once it keeps nothing of the body.
func ReleaseBody(ctx context.Context) {
	if c := contextOf(ctx); c != nil {
		c.releaseMemory()
	}
}

// limitRead gives the client its time to send the body. The function that it returns ends it.
func (c *routeContext) limitRead() (done func(err error)) {
	bounds := &c.route.api.config.bounds
	if bounds.Timeout == 0 {
		return func(error) {}
	}
	// Not the ReadTimeout of an http.Server, which ends event streams too. A recorder has no
	// deadlines.
	control := http.NewResponseController(c.response.writer)
	_ = control.SetReadDeadline(time.Now().Add(bounds.Timeout))
	stop := func() bool { return true }
	if bounds.Closing != nil {
		stop = context.AfterFunc(bounds.Closing, func() { _ = control.SetReadDeadline(time.Now().Add(closingGrace)) })
	}
	return func(err error) {
		stop()
		if err == nil { // behind an error net/http waits for the rest of the body
			_ = control.SetReadDeadline(time.Time{})
		}
	}
}

// bodyText reads the whole body within its bounds.
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

// readText reads a body of at most limit bytes. The memory grows as the body comes, up to the
// length that was announced, and is taken from the budget before.
func (c *routeContext) readText(buf *bytes.Buffer, from io.Reader, limit int64) error {
	most := limit + 1 // with room to see that there is no more
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
			return err //nolint:wrapcheck // the caller tells it apart
		}
	}
}

// countValues takes the memory that a body may need when it is decoded, unless it has too many
// values. It looks at the text once and keeps nothing. What is no JSON is left to the decoder.
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
		return &Error{Status: http.StatusRequestEntityTooLarge, Code: "too_large", Detail: "The body has more than " + strconv.Itoa(most) + " values."}
	}
	return c.takeMemory(int64(values)*valueCost, c.route.bodyBytes(usualBody))
}
