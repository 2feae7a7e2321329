package webhook

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/post"
	"github.com/spoolhq/spool/server/verify"
	signing "github.com/spoolhq/spool/server/verify/webhook"
)

const (
	// Deadline bounds an attempt, from the dial to the end of the answer.
	Deadline = 15 * time.Second
	// MaxAnswer is how much of an answer is kept, in bytes.
	MaxAnswer = 512
	// endpoint is who an event goes to, in errors.
	endpoint = "the endpoint"
)

// Config configures a sender.
type Config struct {
	// Egress says which addresses endpoints may reach that came over the API. Defaults to public ones.
	Egress egress.Policy
	// Listed are further hosts, addresses and prefixes, as in [egress.Policy.Allow], which only endpoints of the
	// configuration may reach. Defaults to none.
	Listed []string
	// Transport replaces the network, for tests and for proxies that check addresses themselves: the sender then checks
	// the names of hosts only. Defaults to none.
	Transport http.RoundTripper
	// Clock tells the time for signatures. Defaults to [verify.SystemClock].
	Clock verify.Clock
}

// Sender makes attempts to deliver events. It is safe for concurrent use.
type Sender struct {
	clock verify.Clock
	// api is for endpoints of the API, and listed for those of the configuration.
	api, listed *reach
}

// NewSender returns a sender. It returns an [spool.Invalid] error that names the entry that is no host, address or
// prefix.
func NewSender(c Config) (*Sender, error) {
	s := &Sender{clock: c.Clock}
	if s.clock == nil {
		s.clock = verify.SystemClock{}
	}
	var err error
	if s.api, err = newReach(c.Egress); err != nil {
		return nil, err
	}
	c.Egress.Allow = append(slices.Clip(c.Egress.Allow), c.Listed...)
	if s.listed, err = newReach(c.Egress); err != nil {
		return nil, err
	}
	if c.Transport != nil {
		s.api.transport, s.listed.transport = c.Transport, c.Transport
	}
	return s, nil
}

func (s *Sender) reach(listed bool) *reach {
	if listed {
		return s.listed
	}
	return s.api
}

// CheckURL returns an [spool.Invalid] error for a URL to which nothing is posted: one of more than 2,048 bytes, with a
// user, a fragment or a scheme other than https, and one whose host may not be reached as far as its name tells. http
// is allowed for this machine and for a host that the policy lists. The error begins with the name of the field, and
// has nothing of the URL in it but the host. Listed is whether the endpoint is one of the configuration.
func (s *Sender) CheckURL(field, text string, listed bool) error {
	return s.reach(listed).checkURL(field, text)
}

// Close closes the connections that no attempt uses.
func (s *Sender) Close() {
	s.api.guard.CloseIdleConnections()
	s.listed.guard.CloseIdleConnections()
}

// Post is what one attempt posts.
type Post struct {
	// ID is the id of the event: visible ASCII without a full stop. Required.
	ID string
	// URL is the endpoint's. Required.
	URL string
	// Listed is whether the endpoint is one of the configuration, which may reach [Config.Listed].
	Listed bool
	// Signer has the secrets of the endpoint. Required.
	Signer *signing.Signer
	// Body is what is sent, with its link. Required.
	Body Sent
}

// Class is what an attempt means for its event.
type Class string

// The classes of an outcome.
const (
	// Delivered: the endpoint answered with a 2xx.
	Delivered Class = "delivered"
	// Gone: the endpoint answered 410, and wants no further event.
	Gone Class = "gone"
	// Later: the endpoint said when to try again.
	Later Class = "later"
	// Failed: the endpoint answered anything else, or not at all.
	Failed Class = "failed"
	// Ended: the context of the attempt ended, so that nothing is known of the endpoint.
	Ended Class = "ended"
)

// Outcome is how an attempt ended.
type Outcome struct {
	Class Class
	// Status is the status of the answer. Zero: there was none.
	Status int
	// RetryAfter is the wait that the endpoint asked for, from a second to a day. Zero: none.
	RetryAfter time.Duration
	// Answer is the beginning of the answer in printable characters, up to 512 bytes. Empty if the body had a link.
	Answer string
	// Err is why the event was not delivered. Its message is for whoever manages the endpoint: it has neither the URL,
	// nor a secret, nor a link in it. Nil if it was delivered.
	Err error
}

// Send makes one attempt. It blocks until the answer is there, the deadline of 15 s is over, or the context ends. It
// follows no redirect, and each address that it dials is one that the policy allows.
func (s *Sender) Send(ctx context.Context, p Post) Outcome {
	limited, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	request, err := s.request(limited, p)
	if err != nil {
		return Outcome{Class: Failed, Err: err}
	}
	// Not by a client, which would read where a redirect leads.
	response, err := s.reach(p.Listed).transport.RoundTrip(request)
	switch {
	case err != nil && ctx.Err() != nil:
		return Outcome{Class: Ended, Err: &spool.Error{
			Code: spool.Canceled, Message: "the attempt was cut off", Err: context.Cause(ctx),
		}}
	case spool.CodeOf(err) == spool.Forbidden:
		// The address is for the log. Whoever makes endpoints must not learn to what names resolve here.
		return Outcome{Class: Failed, Err: &spool.Error{
			Code: spool.Forbidden, Message: "the host of " + endpoint + " is at an address that must not be reached", Err: err,
		}}
	case err != nil:
		return Outcome{Class: Failed, Err: post.Unreached(endpoint, err)}
	}
	defer response.Body.Close()
	outcome := s.outcome(response)
	text, _ := io.ReadAll(io.LimitReader(response.Body, answerRead))
	post.Drain(response.Body, int64(len(text)))
	if !p.Body.linked {
		outcome.Answer = answer(string(text), request.URL)
	}
	return outcome
}

// request makes the signed POST.
func (s *Sender) request(ctx context.Context, p Post) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL, bytes.NewReader(p.Body.Bytes))
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "the URL of %s is malformed", endpoint)
	}
	if err := s.reach(p.Listed).checkURL("the URL of "+endpoint, p.URL); err != nil {
		return nil, err // the configuration may have changed since the endpoint was made
	}
	request.Header.Set("Content-Type", p.Body.ContentType)
	request.Header.Set("User-Agent", "spool")
	if err := p.Signer.Sign(request.Header, p.ID, s.clock.Now(), p.Body.Bytes); err != nil {
		return nil, err
	}
	return request, nil
}

// outcome returns what an answer means, by its status and header.
func (s *Sender) outcome(r *http.Response) Outcome {
	o := Outcome{Class: Failed, Status: r.StatusCode}
	switch {
	case r.StatusCode >= 200 && r.StatusCode <= 299:
		o.Class = Delivered
		return o
	case r.StatusCode == http.StatusGone:
		o.Class = Gone
	case r.StatusCode == http.StatusTooManyRequests, r.StatusCode == http.StatusBadGateway,
		r.StatusCode == http.StatusServiceUnavailable, r.StatusCode == http.StatusGatewayTimeout:
		after, ok := post.RetryAfter(r.Header, s.clock.Now(), minRetryAfter, maxRetryAfter)
		if ok {
			o.Class, o.RetryAfter = Later, after
		}
	}
	o.Err = spool.Errorf(spool.Unavailable, "%s answered %s", endpoint, post.StatusText(r.StatusCode))
	return o
}

// answerRead is how much of an answer is looked at: what is kept, and what may follow of a URL that begins in it.
const answerRead = MaxAnswer + 2*maxURL

// secretInAnswer finds secrets that sign, in the form in which they are made.
var secretInAnswer = regexp.MustCompile(`whsec_[A-Za-z0-9+/_-]+=*`)

// answer returns what is kept of an answer. It takes out what the answer repeats of the URL, of which a path or a query
// may be a secret: many servers say which path they did not find. Secrets that sign are taken out too, such as those of
// a page that shows the receiver's settings.
func answer(text string, u *url.URL) string {
	whole := len(text) < answerRead
	for _, part := range []string{u.RequestURI(), u.EscapedPath(), u.Path, u.RawQuery} {
		if len(part) > 1 {
			text = strings.ReplaceAll(text, part, "…")
		}
	}
	text = secretInAnswer.ReplaceAllString(text, "…")
	if !whole {
		text = text[:max(len(text)-maxURL, 0)] // a URL that was cut is not found
	}
	text = printable(text)
	if len(text) > MaxAnswer {
		text = strings.ToValidUTF8(text[:MaxAnswer], "")
	}
	return text
}

// printable returns the printable characters of a text, with spaces for white space.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsPrint(r):
			return r
		default:
			return -1
		}
	}, strings.ToValidUTF8(text, "")))
}
