package relay

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/egress"
	"github.com/spoolhq/spool/server/verify/webhook"
)

const (
	defaultTimeout = 30 * time.Second
	// maxAnswerBytes is how much of an answer is read so that its connection can be used
	// again. What it says is for nobody.
	maxAnswerBytes = 64 << 10
)

// Config says where jobs are pushed to.
type Config struct {
	// URL takes the jobs, over http or https. Required.
	URL string
	// Secrets are those that each push is signed with, base64 of 24 bytes or more, with or
	// without "whsec_" before it: two of them while the receiver goes from one to the other.
	// Required.
	Secrets []string

	// Header is sent with each push beside what the relay sends itself, such as what a queue
	// outside wants to know: its key, or how often it is to try. Content-Type, Host, User-Agent
	// and those that start with "webhook-" are the relay's. Defaults to none.
	Header http.Header
	// Clock tells the time that is signed. Defaults to [spool.SystemClock].
	Clock spool.Clock
	// Timeout bounds a push, from the dial to the end of the answer. Defaults to 30 s.
	Timeout time.Duration
	// Transport makes the requests. Defaults to one that knows no proxy, and that reaches
	// private addresses only under the host of URL.
	Transport http.RoundTripper
}

// Relay pushes jobs to a URL. It is safe for concurrent use.
type Relay struct {
	url     string
	header  http.Header
	signer  *webhook.Signer
	clock   spool.Clock
	timeout time.Duration
	client  *http.Client
}

// New returns a relay. It returns an [spool.Invalid] error, without a secret or the URL in
// it, that names the field for a configuration that cannot work.
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
		c.Clock = spool.SystemClock{}
	}
	if c.Transport == nil {
		// Whoever configures the URL means its host, wherever that is.
		if c.Transport, err = egress.New(egress.Policy{Allow: []string{target.Hostname()}}); err != nil {
			return nil, spool.Errorf(spool.Invalid, "URL must have a host name or an IP address")
		}
	}
	return &Relay{url: c.URL, header: c.Header.Clone(), signer: signer, clock: c.Clock, timeout: c.Timeout, client: &http.Client{
		Transport: c.Transport,
		// The signature is for the receiver that was configured, not for one it names.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// Deliver pushes a job, as [engine.WorkOptions] wants it done. The body is the job as JSON.
// The header webhook-id is the same each time that the job is pushed, the time and the
// signature are not.
//
// Any 2xx takes the job. A 429 or 503 that has a Retry-After has it come back then, within an
// hour, and costs no attempt. A 400, 410, 413 or 422 is an [spool.Invalid] error, as the same
// job would be refused again. Everything else is an [spool.Unavailable] error. No error's
// message has the URL in it.
func (r *Relay) Deliver(ctx context.Context, d spool.Delivery) (engine.JobResult, error) {
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	request, err := r.request(ctx, d)
	if err != nil {
		return engine.JobResult{}, err
	}
	response, err := r.client.Do(request)
	if err != nil {
		return engine.JobResult{}, unreached(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, maxAnswerBytes)
	return outcome(response, r.clock.Now())
}

// request makes the POST of a job. That the job is due is all that there is to say about
// when, and what was true of another attempt must not make its body another one.
func (r *Relay) request(ctx context.Context, d spool.Delivery) (*http.Request, error) {
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
		// A clock that is wrong is no fault of the job's.
		return nil, &spool.Error{Code: spool.Internal, Message: "sign a push", Err: err}
	}
	return request, nil
}

// messageID names a job. Several outboxes may push to one queue, and count from one each, so
// that the number of a job alone names several.
func messageID(job int64, body []byte) string {
	hash := sha256.New()
	hash.Write(strconv.AppendInt(nil, job, 10))
	hash.Write([]byte{'.'})
	hash.Write(body)
	return "job_" + hex.EncodeToString(hash.Sum(nil)[:16])
}

// unreached is the error of a push without an answer. It leaves out the URL, which may hold
// a key.
func unreached(err error) error {
	message := "the receiver of pushed jobs cannot be reached"
	if outer, ok := errors.AsType[*url.Error](err); ok {
		if err = outer.Err; outer.Timeout() {
			message = "the receiver of pushed jobs did not answer in time"
		}
	}
	return &spool.Error{Code: spool.Unavailable, Message: message, Err: err}
}
