package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// request is one call of the server.
type request struct {
	method, path string
	query        url.Values
	// body is sent as JSON, and an [io.Reader] as it is. Nil: no body.
	body   any
	header http.Header
	// repeatable says that the request may safely arrive twice.
	repeatable bool
	// refusals are the statuses besides 2xx whose body may be the result.
	refusals []int
}

// get returns a request that reads. Parameters come in pairs; those with an empty value are left out.
func get(path string, pairs ...string) request {
	query := make(url.Values)
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			query.Set(pair[0], pair[1])
		}
	}
	return request{method: http.MethodGet, path: path, query: query, repeatable: true}
}

// post returns a request that writes. A 409 has its result.
func post(path string, body any) request {
	return request{method: http.MethodPost, path: path, body: body, refusals: []int{http.StatusConflict}}
}

// do sends a request, and decodes the result into a T. A repeatable request is sent again after a failure that
// may pass, while ctx and the client's Retries allow it.
func do[T any](ctx context.Context, c *Client, q request) (T, error) {
	result, _, err := doOrLater[T](ctx, c, q)
	return result, err
}

// doOrLater is do. If the result is a refusal that is another one later, it also returns how long to wait.
func doOrLater[T any](ctx context.Context, c *Client, q request) (result T, later time.Duration, err error) {
	for failures := 1; ; failures++ {
		result, later, err = once[T](ctx, c, q)
		again := later > 0 || err != nil && passing(err)
		if !again || !q.repeatable || failures > c.options.Retries {
			return result, later, err
		}
		wait := c.options.Backoff.wait(failures, max(askedWait(err), later))
		if !lasts(ctx, wait) || !pause(ctx, wait) {
			return result, later, err
		}
	}
}

// once sends a request once.
func once[T any](ctx context.Context, c *Client, q request) (result T, later time.Duration, err error) {
	res, err := c.exchange(ctx, c.http, q)
	if err != nil {
		return result, 0, err
	}
	defer closeBody(res)
	if res.StatusCode < http.StatusOK || res.StatusCode >= http.StatusMultipleChoices {
		r := readRefusal(res)
		if !slices.Contains(q.refusals, res.StatusCode) || !r.result() || json.Unmarshal(r.raw, &result) != nil {
			var none T
			return none, 0, failure(res, r)
		}
		if res.StatusCode == http.StatusServiceUnavailable {
			later = max(time.Second, retryAfter(res.Header, time.Now()))
		}
		return result, later, nil
	}
	result, err = decode[T](ctx, res)
	return result, 0, err
}

// decode reads the result of an answer that is no refusal.
func decode[T any](ctx context.Context, res *http.Response) (T, error) {
	var result, none T
	body := &bodyReader{in: res.Body}
	err := json.NewDecoder(body).Decode(&result)
	switch {
	case err == nil:
		return result, nil
	case body.err != nil || ctx.Err() != nil:
		return none, unreachable(ctx, err)
	}
	return none, &spool.Error{Code: spool.Internal, Message: "the answer is not that of a Spool server", Err: err}
}

// bodyReader keeps the error of a body, so that the caller can distinguish a cut answer from a
// malformed one.
type bodyReader struct {
	in  io.Reader
	err error
}

// Read implements [io.Reader].
func (b *bodyReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.err = err
	}
	return n, err
}

// closeBody reads what is left of a short body before it closes it, so that the connection can be used again.
func closeBody(res *http.Response) {
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, errorBytes))
	_ = res.Body.Close()
}

// exchange sends a request, and once more with a new token after a 401, unless the body can be read only once. The
// caller closes the body.
func (c *Client) exchange(ctx context.Context, h *http.Client, q request) (*http.Response, error) {
	token, err := c.token(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.send(ctx, h, q, token)
	if _, once := q.body.(io.Reader); once || err != nil || res.StatusCode != http.StatusUnauthorized ||
		c.options.Token == nil {
		return res, err
	}
	fresh, err := c.token(ctx)
	if err != nil || fresh == token {
		return res, nil //nolint:nilerr // the 401 says more
	}
	closeBody(res)
	return c.send(ctx, h, q, fresh)
}

// token returns the present token, "" for none.
func (c *Client) token(ctx context.Context) (string, error) {
	if c.options.Token == nil {
		return "", nil
	}
	token, err := c.options.Token(ctx)
	if err != nil && ctx.Err() != nil {
		return "", canceled(ctx)
	}
	return token, spool.Wrap(spool.Unavailable, "there is no token", err)
}

func (c *Client) send(ctx context.Context, h *http.Client, q request, token string) (*http.Response, error) {
	r, err := c.build(ctx, q, token)
	if err != nil {
		return nil, err
	}
	res, err := h.Do(r)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	return res, nil
}

func (c *Client) build(ctx context.Context, q request, token string) (*http.Request, error) {
	address := c.base + q.path
	if len(q.query) > 0 {
		address += "?" + q.query.Encode()
	}
	var body io.Reader
	if file, ok := q.body.(io.Reader); ok {
		body = file
	} else if q.body != nil {
		text, err := json.Marshal(q.body)
		if err != nil {
			return nil, &spool.Error{Code: spool.Invalid, Message: "the request has no JSON form", Err: err}
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, q.method, address, body)
	if err != nil {
		return nil, &spool.Error{Code: spool.Invalid, Message: "the request has no URL", Err: err}
	}
	r.Header.Set("User-Agent", "spool-go-client")
	r.Header.Set("Accept", "application/json")
	if body != nil || q.method == http.MethodPost { // a server without tokens refuses a POST of any other type
		r.Header.Set("Content-Type", "application/json")
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	maps.Copy(r.Header, q.header)
	for name, values := range c.options.Header {
		r.Header[http.CanonicalHeaderKey(name)] = values
	}
	return r, nil
}
