package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"
)

// exchange sends one request to one handler again and again, without allocations of its own.
type exchange struct {
	handler  http.Handler
	template *http.Request
	text     []byte

	request http.Request
	body    rereader
	writer  recorder
}

func newExchange(h http.Handler, c call) *exchange {
	x := &exchange{
		handler:  h,
		template: httptest.NewRequest(c.method, c.target, strings.NewReader(c.body)),
		text:     []byte(c.body),
		writer:   recorder{header: http.Header{}},
	}
	x.template.Body = http.NoBody
	if c.body != "" {
		x.template.Header.Set("Content-Type", contentJSON)
		x.template.Body = &x.body
	}
	if c.token != "" {
		x.template.Header.Set("Authorization", "Bearer "+c.token)
	}
	return x
}

// do sends the request n times. It removes what a handler left in the request, such as a parsed form or
// path values, before it sends the request again.
func (x *exchange) do(n int) {
	for range n {
		x.request = *x.template
		x.body.Reset(x.text)
		x.writer.reset()
		x.handler.ServeHTTP(&x.writer, &x.request)
	}
}

// answers sends the request once, and returns an error if the status differs.
func (x *exchange) answers(status int) error {
	x.do(1)
	if x.writer.status != status {
		return fmt.Errorf("answered %d %s", x.writer.status, x.writer.body)
	}
	return nil
}

// getCall returns a GET without further requirements.
func getCall(target string) call { return call{method: http.MethodGet, target: target} }

// rereader is a request's body.
type rereader struct{ bytes.Reader }

func (*rereader) Close() error { return nil }

// recorder is a response that reuses its memory.
type recorder struct {
	header http.Header
	status int
	body   []byte
}

func (w *recorder) reset() {
	clear(w.header)
	w.status = 0
	w.body = w.body[:0]
}

func (w *recorder) Header() http.Header { return w.header }

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

func (w *recorder) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, p...)
	return len(p), nil
}

// SetReadDeadline does nothing, without an error: a server's connection supports it, so handlers that
// call it must not pay for an error here.
func (*recorder) SetReadDeadline(time.Time) error { return nil }

// nothing is a handler that measures the cost of the exchange itself.
func nothing(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }
