package verify_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// watched is a body that knows how much of it was read.
type watched struct {
	io.Reader

	read int
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	w.read += n
	return n, err
}

func (*watched) Close() error { return nil }

// send sends a delivery whose headers sign makes for the body. It returns the status and how
// much of the body was read.
func (c *consumer) send(body string, chunked bool, sign func(*testing.T, http.Header, []byte)) (status, read int) {
	c.t.Helper()

	r := httptest.NewRequestWithContext(c.t.Context(), http.MethodPost, "http://localhost/api/queue/agent-run",
		strings.NewReader(body))
	if chunked {
		r.ContentLength = -1
	}
	w := &watched{Reader: r.Body}
	r.Body = w
	if sign != nil {
		sign(c.t, r.Header, []byte(body))
	}
	answer := httptest.NewRecorder()
	c.server.ServeHTTP(answer, r)
	return answer.Code, w.read
}

// A delivery whose headers cannot be good is refused without its body having been read.
func TestHeadersFirst(t *testing.T) {
	t.Parallel()

	each(t, func(c *consumer) {
		c.start("r1", "hello")
		forgers := map[string]func(*testing.T, http.Header, []byte){
			"Nothing": nil,
			"Garbage": func(t *testing.T, h http.Header, body []byte) {
				t.Helper()
				c.scheme.sign(t, h, body)
				for name := range h {
					h.Set(name, "garbage")
				}
			},
			"Twice": func(t *testing.T, h http.Header, body []byte) {
				t.Helper()
				c.scheme.sign(t, h, body)
				for name, values := range h {
					h[name] = append(values, values...)
				}
			},
		}
		for name, forge := range c.scheme.forgers {
			if !slices.Contains(c.scheme.needBody, name) {
				forgers[name] = forge
			}
		}
		for name, forge := range forgers {
			for _, chunked := range []bool{false, true} {
				if status, read := c.send(job("r1", "assistant"), chunked, forge); status != http.StatusUnauthorized || read != 0 {
					c.t.Errorf("%s (chunked %v): %d, and %d bytes were read", name, chunked, status, read)
				}
			}
		}
	})
}

// Behind good headers a body has up to 1 MiB.
func TestBodyLimit(t *testing.T) {
	t.Parallel()

	const limit = 1 << 20
	each(t, func(c *consumer) {
		c.start("r1", "hello")
		padded := func(size int) string {
			short := job("r1", "assistant")
			return short + strings.Repeat(" ", size-len(short))
		}
		for _, chunked := range []bool{false, true} {
			for size, want := range map[int]int{
				64<<10 + 1: http.StatusOK, limit: http.StatusOK, limit + 1: http.StatusRequestEntityTooLarge,
			} {
				status, read := c.send(padded(size), chunked, c.scheme.sign)
				if status != want || read > limit+1 || read > 0 && !chunked && size > limit {
					c.t.Errorf("%d bytes (chunked %v): %d, %d bytes were read, want %d", size, chunked, status, read, want)
				}
			}
		}
		settle()
	})
}
