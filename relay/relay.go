package relay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/post"
	"github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	defaultTimeout = 30 * time.Second
	// receiver is who a push goes to, in errors.
	receiver = "the receiver of pushed jobs"
)

// Config configures a relay.
type Config struct {
	// URL is the address to which jobs are posted, over http or https. Required.
	URL string
	// Secrets are the secrets that sign each push, base64 of 24 bytes or more, with or without "whsec_"
	// before it. Set two while the receiver moves from one to the other. Required.
	Secrets []string

	// Header has further headers of each push, such as the key of an external queue. Content-Type, Host,
	// User-Agent and headers that start with "webhook-" are the relay's own. Defaults to none.
	Header http.Header
	// Clock tells the time for signatures. Defaults to [store.SystemClock].
	Clock store.Clock
	// Timeout bounds a push, from the dial to the end of the answer. Defaults to 30 s.
	Timeout time.Duration
	// Transport makes the requests. Defaults to one without a proxy that reaches private addresses only for
	// the host of URL.
	Transport http.RoundTripper
}

// Relay pushes jobs to a URL. It is safe for concurrent use.
type Relay struct {
	url     string
	header  http.Header
	signer  *webhook.Signer
	clock   store.Clock
	timeout time.Duration
	client  *http.Client
}

// New returns a relay. For an invalid configuration it returns an [spool.Invalid] error that names the field,
// and has neither a secret nor the URL in it.
func New(c Config) (*Relay, error) {
	target, err := url.Parse(c.URL)
	if err != nil || target.Hostname() == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, spool.Errorf(spool.Invalid, "URL must be an http or https URL")
	}
	signer, err := webhook.NewSigner(c.Secrets)
	if err != nil {
		return nil, err
	}
	if err := checkHeader(c.Header); err != nil {
		return nil, err
	}
	if c.Timeout < 0 {
		return nil, spool.Errorf(spool.Invalid, "Timeout must not be negative")
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Clock == nil {
		c.Clock = store.SystemClock{}
	}
	if c.Transport == nil {
		// The configuration allows the host of the URL, wherever that is.
		if c.Transport, err = egress.New(egress.Policy{Allow: []string{target.Hostname()}}); err != nil {
			return nil, spool.Errorf(spool.Invalid, "URL must have a host name or an IP address")
		}
	}
	return &Relay{
		url: c.URL, header: c.Header.Clone(), signer: signer, clock: c.Clock, timeout: c.Timeout,
		client: &http.Client{
			Transport: c.Transport,
			// The signature is for the configured receiver, and not for a host in a redirect.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Deliver pushes a job, for [engine.WorkOptions]. The body is the job as JSON. The header webhook-id is the
// same for all pushes of the job; the time and the signature are not.
//
// Any 2xx accepts the job. After a 429 or 503 with a Retry-After, the job comes back at that time, within an
// hour, and no attempt is counted. A 400, 410, 413 or 422 is an [spool.Invalid] error, because the same job
// would be refused again. Everything else is an [spool.Unavailable] error. No error's message has the URL in
// it.
func (r *Relay) Deliver(ctx context.Context, d store.Delivery) (wire.JobResult, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	request, err := r.request(ctx, d)
	if err != nil {
		return wire.JobResult{}, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return wire.JobResult{}, post.Unreached(receiver, err)
	}
	defer response.Body.Close()
	post.Drain(response.Body, 0)
	return outcome(response, r.clock.Now())
}

// request makes the POST of a job. Its body has no due time, because the job is due now, and all attempts
// must have the same body.
func (r *Relay) request(ctx context.Context, d store.Delivery) (*http.Request, error) {
	d.DueAt = time.Time{}
	body, err := json.Marshal(d.Job)
	if err != nil {
		return nil, spool.Wrap(spool.Internal, "write the job as JSON", err)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, spool.Errorf(spool.Internal, "make the request of a push")
	}
	for name, values := range r.header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "spool")
	if err := r.signer.Sign(request.Header, messageID(d.JobID, body), r.clock.Now(), body); err != nil {
		// A wrong clock is not the job's fault.
		return nil, &spool.Error{Code: spool.Internal, Message: "sign a push", Err: err}
	}
	return request, nil
}

// messageID returns the id of a job's message. Several outboxes may push to one queue with the same job
// numbers, so the number alone is not unique.
func messageID(job int64, body []byte) string {
	hash := sha256.New()
	hash.Write(strconv.AppendInt(nil, job, 10))
	hash.Write([]byte{'.'})
	hash.Write(body)
	return "job_" + hex.EncodeToString(hash.Sum(nil)[:16])
}
