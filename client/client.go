package client

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
)

// Options configure a [Client]. The zero value works for a server without authentication.
type Options struct {
	// Backoff is the wait between attempts. Defaults to 500 ms, doubled up to 30 s.
	Backoff Backoff
	// Header is sent with every request, such as a header that a proxy asks for. Defaults to none.
	Header http.Header
	// HTTPClient sends the requests. Its Timeout does not apply to [Client.Follow]. Defaults to a client
	// without a timeout, whose transport all such clients of the process share.
	HTTPClient *http.Client
	// MaxEventBytes bounds the size of one event of a stream. A snapshot of a whole thread is one event.
	// Defaults to 256 MiB.
	MaxEventBytes int
	// Retries is how often a request is sent again after a failure that may pass: the server cannot be reached,
	// or answers 429, 502, 503 or 504. It applies to requests that may safely arrive twice, which are reads,
	// and starts with an idempotency key. A Retry-After of the server is honoured. Negative: never. Defaults
	// to 3. It does not apply to [Client.Follow] and [Client.Await], which go on until their context ends.
	Retries int
	// Token returns the bearer token. It is called for each request and for each connection of a stream, and
	// once more after a 401, so that an expired token is replaced. It is safe for concurrent use. An error with
	// the code [spool.Unauthorized], [spool.Forbidden], [spool.Invalid] or [spool.NotFound] ends a Follow;
	// after any other error, Follow tries again. Defaults to no credentials. See [StaticToken].
	Token func(ctx context.Context) (string, error)
}

// StaticToken returns a [Options.Token] that always returns the token.
func StaticToken(token string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) { return token, nil }
}

// Client calls one Spool server as one caller. It is safe for concurrent use, and needs no closing.
type Client struct {
	base    string // without a slash at the end
	options Options
	http    *http.Client
	// stream is http without a timeout, for event streams.
	stream *http.Client
	// tenant is the tenant on which an operator's operations act. Empty: the caller's own.
	tenant spool.Tenant
}

const (
	defaultRetries    = 3
	defaultEventBytes = 256 << 20
	// idlePerHost is how many idle connections to one server are kept for the next requests.
	idlePerHost = 64
)

// New returns a client of the server at an http or https URL, such as "http://127.0.0.1:8080". The URL has the
// server's base path, if there is one. New sends nothing. It returns an [spool.Invalid] error for another URL
// and for an option that cannot be used.
func New(baseURL string, o Options) (*Client, error) {
	u, err := url.Parse(baseURL)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" ||
		u.Fragment != "" {
		return nil, spool.Errorf(spool.Invalid,
			`baseURL must be an http or https URL without credentials and query, such as "https://agents.example"`)
	}
	if o.MaxEventBytes < 0 {
		return nil, spool.Errorf(spool.Invalid, "Options.MaxEventBytes is negative")
	}
	if o.Backoff, err = o.Backoff.withDefaults(); err != nil {
		return nil, err
	}
	o.Header = o.Header.Clone()
	o.MaxEventBytes = cmp.Or(o.MaxEventBytes, defaultEventBytes)
	o.Retries = max(0, cmp.Or(o.Retries, defaultRetries))
	c := &Client{base: strings.TrimRight(u.String(), "/"), options: o, http: o.HTTPClient}
	if c.http == nil {
		c.http = &http.Client{Transport: sharedTransport()}
	}
	stream := *c.http
	stream.Timeout = 0
	c.stream = &stream
	return c, nil
}

// sharedTransport returns the transport of clients without an HTTPClient. It keeps more idle connections to
// one server than the transport of package http, which keeps two.
var sharedTransport = sync.OnceValue(func() http.RoundTripper {
	standard, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	own := standard.Clone()
	own.MaxIdleConnsPerHost = idlePerHost
	return own
})
