package stream

import (
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// chunked writes the body of an answer to a connection, in the chunked transfer coding. It implements
// [http.ResponseWriter] for the code that it shares with streams inside a handler. Each write is sent at once.
type chunked struct{ conn net.Conn }

// joined are buffers for chunks with their frame. A chunk of up to joinedSize is copied to one, because one
// write of the system is cheaper than the copy.
var joined = sync.Pool{New: func() any { return new([]byte) }}

const joinedSize = 16 << 10

// Write sends one chunk. Nothing is sent for no bytes: an empty chunk ends the answer.
func (c *chunked) Write(b []byte) (int, error) {
	switch {
	case len(b) == 0:
		return 0, nil
	case len(b) > joinedSize:
		return c.writeLarge(b)
	}
	buffer, _ := joined.Get().(*[]byte)
	defer joined.Put(buffer)
	text := strconv.AppendInt((*buffer)[:0], int64(len(b)), 16)
	text = append(append(append(text, "\r\n"...), b...), "\r\n"...)
	*buffer = text
	if _, err := c.conn.Write(text); err != nil {
		return 0, err //nolint:wrapcheck // as a writer of net/http
	}
	return len(b), nil
}

// writeLarge sends one chunk without a copy.
func (c *chunked) writeLarge(b []byte) (int, error) {
	size := append(strconv.AppendInt(nil, int64(len(b)), 16), "\r\n"...)
	parts := net.Buffers{size, b, []byte("\r\n")}
	if _, err := parts.WriteTo(c.conn); err != nil {
		return 0, err //nolint:wrapcheck // as a writer of net/http
	}
	return len(b), nil
}

// end sends the last chunk.
func (c *chunked) end() error {
	_, err := c.conn.Write([]byte("0\r\n\r\n"))
	return err //nolint:wrapcheck // as a writer of net/http
}

// SetWriteDeadline implements the deadline of [http.ResponseController].
func (c *chunked) SetWriteDeadline(at time.Time) error { return c.conn.SetWriteDeadline(at) } //nolint:wrapcheck // as above

// FlushError implements the flush of [http.ResponseController]. Nothing is held back.
func (c *chunked) FlushError() error { return nil }

// Header implements [http.ResponseWriter]. The head has been sent.
func (c *chunked) Header() http.Header { return http.Header{} }

// WriteHeader implements [http.ResponseWriter]. The head has been sent.
func (c *chunked) WriteHeader(int) {}
