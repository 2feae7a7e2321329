// Package httptool makes tools from HTTP endpoints. A call posts its arguments as JSON, and the answer is the
// result.
package httptool

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/egress"
	"github.com/spoolhq/spool/tool"
)

const (
	defaultTimeout   = 30 * time.Second
	defaultMaxResult = 256 << 10
	// maxErrorBody bounds how much of an error's body the model gets to read.
	maxErrorBody = 2000
	// minSecret is the minimum length of a header's value that counts as a secret.
	minSecret = 8
)

// Egress says which addresses a tool may reach. The zero value allows public ones.
type Egress = egress.Policy

// Config configures a tool.
type Config struct {
	// Name is the tool's name. Required.
	Name string

	// URL is the address to which the arguments are posted, over http or https. Required.
	URL string

	// Approval parks each call until a person allows it.
	//
	// Defaults to false.
	Approval bool

	// Body is the form of the request's body: [BodyArguments] or [BodyEnvelope]. The envelope is
	// {"arguments", "call", "answer"}. call has tenant, subject, threadId, runId, step, toolCallId, toolName
	// and idempotencyKey. answer is present if a person answered the call, and has approved, payload, reason
	// and by.
	//
	// Defaults to BodyArguments.
	Body Body

	// Description is the tool's description for the model.
	//
	// Defaults to none.
	Description string

	// Egress says which addresses this request and its redirects may reach.
	//
	// Defaults to public addresses.
	Egress Egress

	// Headers are added to each request. If an answer repeats the value of a header, which may be a key, the
	// model does not get that value.
	//
	// Defaults to none.
	Headers map[string]string

	// Idempotent says that the endpoint executes requests with the same Idempotency-Key only once, so that a
	// call with an unknown outcome may be repeated.
	//
	// Defaults to false.
	Idempotent bool

	// MaxResultBytes bounds the answer. A larger one is an error.
	//
	// Defaults to 256 KiB.
	MaxResultBytes int

	// Parameters is the JSON Schema of the arguments, which are checked against it.
	//
	// Defaults to no arguments.
	Parameters json.RawMessage

	// Timeout bounds a call, from the dial to the end of the answer.
	//
	// Defaults to 30 seconds.
	Timeout time.Duration
}

// New returns a tool that posts to an endpoint, or an [spool.Invalid] error that names the wrong field of
// config.
//
// Each request has the header Idempotency-Key, which is the same for every repeat of the call: see
// [spool.RunRow.CallKey]. The headers [HeaderTenant], [HeaderSubject], [HeaderThread] and [HeaderRun] name
// the run of the call. If the call waited for an answer with a payload, [HeaderPayload] has the payload, in
// up to 4 KiB of ASCII. A longer payload needs [BodyEnvelope], and is an error of the call otherwise. These
// headers take precedence over Config.Headers.
//
// The result is the answer's JSON, or the answer as a JSON string if it is not JSON. A status other than 2xx
// is an error with the beginning of the body. Redirects are followed only within the host of the URL, and
// only with the statuses 307 and 308, which repeat the POST. A 301, 302 or 303 is an error: the endpoint may
// have executed the call by then, and a GET would not tell.
func New(config Config) (spool.Tool, error) {
	target, err := url.Parse(config.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "URL of tool %s is not an http or https URL", config.Name)
	}
	if config.Timeout < 0 || config.MaxResultBytes < 0 {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "Timeout and MaxResultBytes of tool %s must not be negative", config.Name)
	}
	if config.Timeout == 0 {
		config.Timeout = defaultTimeout
	}
	if config.MaxResultBytes == 0 {
		config.MaxResultBytes = defaultMaxResult
	}
	switch config.Body = cmp.Or(config.Body, BodyArguments); config.Body {
	case BodyArguments, BodyEnvelope:
	default:
		return spool.Tool{}, spool.Errorf(spool.Invalid, "Body of tool %s must be %s or %s", config.Name, BodyArguments, BodyEnvelope)
	}
	config.Headers = maps.Clone(config.Headers)
	transport, err := egress.New(config.Egress)
	if err != nil {
		return spool.Tool{}, spool.Errorf(spool.Invalid, "Egress of tool %s: %s", config.Name, spool.MessageOf(err))
	}
	e := &endpoint{config: config, host: target.Host, client: &http.Client{
		Transport:     transport,
		CheckRedirect: sameRequest,
		Timeout:       config.Timeout,
	}}

	made, err := tool.FromSchema(config.Name, config.Description, config.Parameters, e.call)
	if err != nil {
		return spool.Tool{}, err
	}
	made.Idempotent = config.Idempotent
	if config.Approval {
		made.Approval = spool.AlwaysApprove
	}
	return made, nil
}

// endpoint is the target of a tool.
type endpoint struct {
	config Config
	host   string
	client *http.Client
}

func (e *endpoint) call(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
	request, err := e.request(ctx, c)
	if err != nil {
		return nil, err
	}
	response, err := e.client.Do(request)
	if err != nil {
		return nil, e.failed(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, e.refused(response)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(e.config.MaxResultBytes)+1))
	switch {
	case err != nil:
		return nil, e.failed(ctx, err)
	case len(body) > e.config.MaxResultBytes:
		return nil, spool.Errorf(spool.Limit, "the answer of %s is larger than %d bytes", e.host, e.config.MaxResultBytes)
	}
	return result(e.clean(body))
}

// failed returns the error of a request without a complete answer. It leaves out the URL, because the query
// may contain a key.
func (e *endpoint) failed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		if outer.Timeout() {
			return &spool.Error{
				Code:    spool.Unavailable,
				Message: fmt.Sprintf("%s did not answer within %s", e.host, e.config.Timeout),
				Err:     outer.Err,
			}
		}
		err = outer.Err
	}
	if known, ok := errors.AsType[*spool.Error](err); ok {
		return known
	}
	message := "reach " + e.host
	if errors.Is(err, errOtherHost) || errors.Is(err, errOtherMethod) {
		message = e.host + " " + err.Error()
	}
	return &spool.Error{Code: spool.Unavailable, Message: message, Err: err}
}

// refused returns the error of an answer with a status other than 2xx.
func (e *endpoint) refused(response *http.Response) error {
	// Even a part of the body helps the model.
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBody))
	message := fmt.Sprintf("%s answered with status %d", e.host, response.StatusCode)
	if text := strings.TrimSpace(strings.ToValidUTF8(string(e.clean(body)), "\ufffd")); text != "" {
		message += ": " + text
	}
	code := spool.Invalid
	if response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests {
		code = spool.Unavailable
	}
	return &spool.Error{Code: code, Message: message}
}

// clean removes the values of the configured headers from a text for the model.
func (e *endpoint) clean(body []byte) []byte {
	for _, value := range e.config.Headers {
		for _, secret := range []string{value, strings.TrimPrefix(value, "Bearer ")} {
			if len(secret) >= minSecret {
				body = bytes.ReplaceAll(body, []byte(secret), []byte("[redacted]"))
			}
		}
	}
	return body
}

// result returns JSON unchanged and anything else as a JSON string.
func result(body []byte) (json.RawMessage, error) {
	body = bytes.TrimSpace(body)
	switch {
	case len(body) == 0:
		return json.RawMessage("null"), nil
	case json.Valid(body):
		return body, nil
	case !utf8.Valid(body):
		return nil, spool.Errorf(spool.Invalid, "the answer is neither JSON nor text")
	default:
		return json.Marshal(string(body))
	}
}
