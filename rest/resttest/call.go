package resttest

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// TB is the part of *testing.T, B and F that this package needs. A program may implement it.
type TB interface {
	Helper()
	// Context returns the context of the requests.
	Context() context.Context
	// Fatalf reports a failure and ends the test.
	Fatalf(format string, args ...any)
}

// origin is the scheme and host of requests without an own host.
const origin = "http://api.test"

// Call sends the endpoint's request for in to the handler h, and returns the answer. h is the
// API, or a handler around it.
func Call[In, Out any](t TB, h http.Handler, e *rest.Endpoint[In, Out], in In, options ...Option) Answer[Out] {
	t.Helper()
	return CallAs[Out](t, h, e, in, options...)
}

// CallAs is like [Call], for an endpoint whose answer has another type than its handler's
// result: a list, a list with a view, or a [rest.Reply].
func CallAs[Body, In, Out any](t TB, h http.Handler, e *rest.Endpoint[In, Out], in In, options ...Option) Answer[Body] {
	t.Helper()
	r, err := e.Request(t.Context(), in)
	if err != nil {
		t.Fatalf("resttest: %v", err)
	}
	return exchange[Body](t, h, r, options)
}

// Do sends a request with a method and an address, such as "/books?page=2", and returns the
// answer. Use [JSON] or [Content] for a body.
func Do[Body any](t TB, h http.Handler, method, target string, options ...Option) Answer[Body] {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, target, nil)
	if err != nil {
		t.Fatalf("resttest: %v", err)
	}
	return exchange[Body](t, h, r, options)
}

func exchange[Body any](t TB, h http.Handler, r *http.Request, options []Option) Answer[Body] {
	t.Helper()
	c := call{request: r, codec: standard{}}
	for _, o := range options {
		if err := o(&c); err != nil {
			t.Fatalf("resttest: %v", err)
		}
	}
	r = c.arrive(t)
	w := httptest.NewRecorder()
	aborted := serve(h, w, r)
	if r.Method == http.MethodHead {
		w.Body.Reset() // a server sends no body for HEAD
	}
	return read[Body](t, &c, w, aborted)
}

// arrive turns a client's request into the request that a server sees.
func (c *call) arrive(t TB) *http.Request {
	t.Helper()
	r := c.request
	if r.URL.Host == "" {
		base, err := url.Parse(origin)
		if err != nil {
			t.Fatalf("resttest: %v", err)
		}
		r.URL.Scheme, r.URL.Host = base.Scheme, base.Host
	}
	if r.Host == "" {
		r.Host = r.URL.Host
	}
	if len(c.query) > 0 {
		r.URL.RawQuery = strings.TrimPrefix(r.URL.RawQuery+"&"+c.query.Encode(), "&")
	}
	body, err := io.ReadAll(readerOf(r.Body))
	if err != nil {
		t.Fatalf("resttest: %v", err)
	}
	seen := httptest.NewRequestWithContext(r.Context(), r.Method, r.URL.String(), strings.NewReader(string(body)))
	seen.Header, seen.Host, seen.RequestURI = r.Header, r.Host, r.URL.RequestURI()
	if c.remote != "" {
		seen.RemoteAddr = c.remote
	}
	return seen
}

func readerOf(body io.Reader) io.Reader {
	if body == nil {
		return http.NoBody
	}
	return body
}

// serve calls the handler and reports whether it cut the connection.
func serve(h http.Handler, w http.ResponseWriter, r *http.Request) (aborted bool) {
	defer func() {
		reason := recover()
		if aborted = reason == http.ErrAbortHandler; reason != nil && !aborted { //nolint:errorlint,err113 // a panic value is compared as it is, as net/http does
			panic(reason)
		}
	}()
	h.ServeHTTP(w, r)
	return false
}
