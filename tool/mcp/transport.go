package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/spoolhq/spool/tool/internal/lease"
)

// statusError is an HTTP answer that is no JSON-RPC message.
type statusError struct {
	status int
	// session is true if the request named a session.
	session bool
}

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered with status %d", e.status)
}

var errRedirect = errors.New("the server redirected to another host or method, which is not followed")

// newHTTPClient returns a client for the SDK's transport. The tokens may be nil.
func newHTTPClient(transport http.RoundTripper, headers map[string]string, t tokens) *http.Client {
	return &http.Client{Transport: &roundTripper{next: transport, headers: headers, tokens: t}, CheckRedirect: sameRequest}
}

// sameRequest allows only redirects that keep the host, TLS and the method, so that no other host gets the
// arguments and the headers.
func sameRequest(r *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0]
	switch {
	case !strings.EqualFold(r.URL.Host, first.URL.Host), first.URL.Scheme == "https" &&
		r.URL.Scheme != "https", r.Method != first.Method:
		return errRedirect
	case len(via) >= most:
		return fmt.Errorf("the server redirected %d times", most)
	default:
		return nil
	}
}

// roundTripper adds the headers and bounds the answers. It turns an answer that is no JSON-RPC message into an
// error of its request: the SDK would break the whole connection for it, with all calls that are under way. For
// the same reason it reads a JSON answer to its end.
type roundTripper struct {
	next    http.RoundTripper
	headers map[string]string
	tokens  tokens // nil: requests have no access tokens
}

// RoundTrip implements [http.RoundTripper].
func (t *roundTripper) RoundTrip(r *http.Request) (*http.Response, error) {
	plain := r.Context()
	ctx := plain
	if sent, ok := ctx.Value(sentKey{}).(*sending); ok {
		guarded, cancel := context.WithCancel(ctx)
		// A request is tried again with another connection if its first one has certainly not sent it.
		ctx = httptrace.WithClientTrace(guarded, &httptrace.ClientTrace{
			GetConn: func(string) { sent.dials() }, GotConn: func(info httptrace.GotConnInfo) {
				sent.Store(true)
				sent.GotConn(info, cancel)
			},
		})
	}
	r = r.Clone(ctx)
	for name, value := range t.headers {
		r.Header.Set(name, value)
	}
	if r.Method == http.MethodGet {
		return t.standing(r), nil
	}
	response, err := t.exchange(plain, r)
	noteProbe(plain, r, response, err)
	if err != nil || r.Method != http.MethodPost {
		return response, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	good := response.StatusCode >= 200 && response.StatusCode < 300
	redirect := response.StatusCode >= 300 && response.StatusCode < 400
	caught := catchOf(plain)
	if redirect || good && kind != "application/json" {
		if caught != nil && response.StatusCode == http.StatusOK && kind != "text/event-stream" {
			_ = response.Body.Close()
			return nil, unreadableAnswer("it has the type %q", cut(kind, maxTitle))
		}
		response.Body = caught.events(response.Body, r)
		return response, nil // events are read, and bounded, one by one
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxMessage+1))
	switch {
	case err != nil:
		return nil, err
	case !good && (len(body) > maxMessage || !isRPCError(body)):
		return nil, &statusError{status: response.StatusCode, session: r.Header.Get("Mcp-Session-Id") != ""}
	case len(body) > maxMessage:
		return nil, tooLarge()
	}
	if caught != nil && good {
		if _, err := jsonrpc.DecodeMessage(body); err != nil {
			return nil, unreadableAnswer("it is no message of JSON-RPC")
		}
	}
	caught.see(body)
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, nil
}

// isRPCError reports whether a body is an error of JSON-RPC.
func isRPCError(body []byte) bool {
	var message struct {
		Version string          `json:"jsonrpc"`
		Error   json.RawMessage `json:"error"`
	}
	return json.Unmarshal(body, &message) == nil && message.Version != "" && len(message.Error) > 0
}

type probeKey struct{}

// withProbe returns a context for a connection, and whether the request for the revision of the server broke.
func withProbe(ctx context.Context) (context.Context, *atomic.Bool) {
	broken := new(atomic.Bool)
	return context.WithValue(ctx, probeKey{}, broken), broken
}

// noteProbe notes whether a request for the revision broke. An older server answers it with an error of its own, but
// what stands before a server that is away says nothing about its revision.
func noteProbe(ctx context.Context, r *http.Request, response *http.Response, err error) {
	broken, ok := ctx.Value(probeKey{}).(*atomic.Bool)
	if !ok || r.Header.Get("Mcp-Method") != "server/discover" {
		return
	}
	away := err == nil && slices.Contains(
		[]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, response.StatusCode,
	)
	broken.Store(err != nil || away)
}

type sentKey struct{}

// sending is true once a request has a connection, and so may reach the server.
type sending struct {
	atomic.Bool
	lease.Guard

	call context.Context //nolint:containedctx // it is the context of the call, and requests may outlive it
}

// dials notes that a request looks for a connection. After the end of the call that is another request, by which the
// SDK tells the server so: the call may have left all the same.
func (s *sending) dials() {
	if s.call.Err() == nil {
		s.Store(false)
	}
}

// withSent returns a context whose requests set sent, and leave only while the worker has its lease.
func withSent(ctx context.Context) (context.Context, *sending) {
	sent := &sending{Guard: lease.Guard{Check: func() error { return lease.Check(ctx) }}, call: ctx}
	return context.WithValue(ctx, sentKey{}, sent), sent
}
