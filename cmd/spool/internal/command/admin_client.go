package command

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	// adminTimeout limits one request: a server may have a thousand threads to delete.
	adminTimeout = 5 * time.Minute
	// maxAnswer limits the size of an answer.
	maxAnswer = 64 << 20
)

// adminClient calls the admin endpoints of a server.
type adminClient struct {
	base, token string
	json        bool
	out         io.Writer
	http        *http.Client
}

func newAdminClient(f *adminFlags, h host) (*adminClient, error) {
	u, err := url.Parse(f.url)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, usagef("--url: %q must be an http or https URL", f.url)
	}
	if u.User != nil {
		return nil, usagef("--url: has a password in it; the token belongs into SPOOL_TOKEN")
	}
	return &adminClient{
		base: strings.TrimRight(u.String(), "/"), token: f.token, json: f.json, out: h.stdout,
		http: &http.Client{
			Timeout: adminTimeout,
			// A redirect would send the token to another server.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// answeredError is an answer of the server that refuses the request.
type answeredError struct {
	status int
	text   string
}

func (e *answeredError) Error() string {
	return fmt.Sprintf("the server refused (%d): %s", e.status, e.text)
}

// get requests a path and decodes the answer into a value. With --json it also prints the answer.
func (c *adminClient) get(ctx context.Context, path string, q url.Values, into any) error {
	if len(q) > 0 {
		path += "?" + q.Encode()
	}
	return c.do(ctx, http.MethodGet, path, nil, into)
}

// post sends a body. An answer with a status in results is a result, not an error.
func (c *adminClient) post(ctx context.Context, path string, body, into any, results ...int) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.do(ctx, http.MethodPost, path, text, into, results...)
}

func (c *adminClient) do(ctx context.Context, method, path string, body []byte, into any, results ...int) error {
	r, err := http.NewRequestWithContext(ctx, method, c.base+path, bytes.NewReader(body)) //nolint:gosec // to the address that the user gave
	if err != nil {
		return err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	res, err := c.http.Do(r) //nolint:gosec // see above
	if err != nil {
		return c.unreachable(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	if err != nil {
		return c.unreachable(err)
	}
	if !accepted(res.StatusCode, results) || json.Unmarshal(text, into) != nil {
		return refusedWith(res.StatusCode, text)
	}
	if c.json {
		_, err = fmt.Fprintln(c.out, strings.TrimSpace(string(text)))
	}
	return err
}

func accepted(status int, results []int) bool {
	return status == http.StatusOK || slices.Contains(results, status)
}

// refusedWith returns the error in an answer of the server.
func refusedWith(status int, body []byte) error {
	var known struct{ Error string }
	if json.Unmarshal(body, &known) != nil || known.Error == "" {
		known.Error = "this is no answer of Spool's; is the --url right?"
	}
	return &answeredError{status, known.Error}
}

// unreachable removes from an error what the user typed.
func (c *adminClient) unreachable(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if failed, ok := errors.AsType[*net.OpError](err); ok && failed.Op == "dial" {
		return fmt.Errorf("no server answers at %s: %w", c.base, failed.Err)
	}
	return fmt.Errorf("ask %s: %w", c.base, err)
}
