// Package endpoint calls the HTTP endpoints of tools: it signs requests, tells whose call it is, repeats what
// may be repeated, and turns answers into results that contain no configured secret.
//
// A call that is not idempotent is sent at most once. Such a call gets a connection of its own, because
// net/http repeats requests with an Idempotency-Key when a kept connection breaks.
package endpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/server/verify/webhook"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxResult = 256 << 10
	// defaultMaxStored is the default if the engine stores artifacts.
	defaultMaxStored = 10 << 20
)

// Config configures an endpoint. The tools over it document the fields.
type Config struct {
	// Tool is the name of the tool, for errors.
	Tool string

	Egress         egress.Policy
	Headers        map[string]string
	MaxResultBytes int
	Retry          Retry
	Secrets        []string
	SigningSecrets []string
	Timeout        time.Duration
}

// Endpoint sends the requests of a tool, or of several tools of one service. It is safe for concurrent use.
type Endpoint struct {
	config  Config
	secrets []string
	signer  *webhook.Signer // nil: requests are not signed
	// kept reuses connections, and once does not.
	kept, once *http.Client
}

// Request is the request of one call.
type Request struct {
	Method string
	URL    *url.URL
	// Header has the headers of this call. Those of the configuration take precedence.
	Header http.Header
	// Body is nil for a request without a body.
	Body []byte
	// Idempotent says that the call may be repeated.
	Idempotent bool
	// Caller adds the headers that say whose call it is.
	Caller bool
	// ShortKey sends the call's [WebhookID] as the idempotency key. Many services refuse the slashes and the
	// length of the key itself.
	ShortKey bool
	// Enveloped says that the body has the payload of the call's answer, so no header needs to have it.
	Enveloped bool
}

// New returns an endpoint. It returns an [spool.Invalid] error that names the field of an invalid
// configuration, without secrets.
func New(c Config) (*Endpoint, error) {
	if c.Timeout < 0 || c.MaxResultBytes < 0 {
		return nil, spool.Errorf(spool.Invalid, "Timeout and MaxResultBytes of tool %s must not be negative", c.Tool)
	}
	c.Timeout = cmp.Or(c.Timeout, defaultTimeout)
	var err error
	if c.Retry, err = c.Retry.normal(c.Tool); err != nil {
		return nil, err
	}
	c.Headers = maps.Clone(c.Headers)
	e := &Endpoint{config: c, secrets: c.secrets()}
	if len(c.SigningSecrets) > 0 {
		signer, err := webhook.NewSigner(c.SigningSecrets)
		if err != nil {
			return nil, spool.Errorf(spool.Invalid, "Signing%s of tool %s", spool.MessageOf(err), c.Tool)
		}
		e.signer = signer
	}
	for _, client := range []**http.Client{&e.kept, &e.once} {
		transport, err := egress.New(c.Egress)
		if err != nil {
			return nil, spool.Errorf(spool.Invalid, "Egress of tool %s: %s", c.Tool, spool.MessageOf(err))
		}
		*client = &http.Client{Transport: transport, CheckRedirect: sameRequest}
	}
	return e, nil
}

// Do makes the call, with the configured retries, and returns its result. An error has no configured secret
// in it. If ctx has ended before another attempt, Do returns the error of ctx, and not the earlier answer of the
// endpoint. It returns the answer of the last attempt, and an error about an effect that may have happened, even if ctx
// has ended.
func (e *Endpoint) Do(ctx context.Context, c spool.ToolCall, r Request) (json.RawMessage, error) {
	header, err := e.header(c, r)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for n := 1; ; n++ {
		left := e.config.Timeout
		if e.config.Retry.Attempts > 1 {
			left = min(left, e.config.Retry.Within-time.Since(begin))
		}
		got := e.attempt(ctx, c, r, header, left)
		if got.err == nil {
			return got.result, nil
		}
		pause, again := e.config.Retry.next(n, time.Since(begin), r.Idempotent, got)
		if !again {
			return nil, got.err
		}
		if err := sleep(ctx, pause); err != nil {
			return nil, err
		}
	}
}

// sleep returns the error of ctx if that ends before d is over, or has ended already.
func sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
