// Package httptool makes tools from HTTP endpoints. A call posts its arguments as JSON, and the answer is the
// result. [Config] can choose another method, sign requests and repeat calls.
package httptool

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/tool"
	"github.com/spoolhq/spool/tool/internal/argument"
	"github.com/spoolhq/spool/tool/internal/endpoint"
)

// Retry says how often a call is attempted. The zero value attempts it once.
type Retry = endpoint.Retry

// Config configures a tool.
type Config struct {
	// Name is the tool's name. Required.
	Name string

	// URL is the address that is called, over http or https. A name in braces in its path, such as
	// "/orders/{order}", is replaced by the argument of that name, which Parameters must require. Required.
	URL string

	// Approval parks each call until a person allows it.
	//
	// Defaults to false.
	Approval bool

	// Body is the form of the request's body: [BodyArguments] or [BodyEnvelope]. The envelope is
	// {"arguments", "call", "answer"}. call has tenant, subject, agent, threadId, runId, step, toolCallId,
	// toolName, idempotencyKey and fence. answer is present if a person answered the call, and has approved, payload,
	// reason and by.
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
	Egress egress.Policy

	// Headers are added to each request. If an answer repeats the value of a header, which may be a key, the
	// model does not get that value. Only Accept, Accept-Language, Content-Type, User-Agent and headers whose
	// names end with "version" count as public.
	//
	// Defaults to none.
	Headers map[string]string

	// Idempotent says that the endpoint executes requests with the same Idempotency-Key only once, so that a
	// call with an unknown outcome may be repeated.
	//
	// Defaults to false, and to true for the method GET.
	Idempotent bool

	// MaxResultBytes bounds the answer. A larger one is an error. An answer that is neither JSON nor text becomes an
	// artifact: see [spool.ToolCall.SaveArtifact].
	//
	// Defaults to 10 MiB, and to 256 KiB for JSON and text if large results are not stored: see
	// [spool.ToolCall.StoresResults].
	MaxResultBytes int

	// Method is GET, POST, PUT, PATCH or DELETE. A GET and a DELETE have the arguments in the query, except
	// those in the path; the others have them in the body.
	//
	// Defaults to POST.
	Method string

	// Parameters is the JSON Schema of the arguments, which are checked against it. If a property has "contentEncoding":
	// "base64" or "format": "binary" and its argument is the id of an artifact, which begins with art_, the body has the
	// artifact's data as base64, of up to 10 MiB. Say in its description that the model gives the id of a file. In any
	// other property, an id is a text.
	//
	// Defaults to no arguments.
	Parameters json.RawMessage

	// Retry says which calls are attempted again, and how often.
	//
	// Defaults to one attempt.
	Retry Retry

	// Secrets are further texts of 8 bytes or more that no result and no error may have, such as a key in the
	// URL.
	//
	// Defaults to the values of Headers and SigningSecrets.
	Secrets []string

	// SigningSecrets sign each request by the specification Standard Webhooks, each with one signature. A
	// secret is the base64 of 24 bytes or more, with or without "whsec_" before it. The signature covers the
	// body and the id, not the path and the headers.
	//
	// Defaults to no signature.
	SigningSecrets []string

	// Timeout bounds an attempt, from the dial to the end of the answer.
	//
	// Defaults to 30 seconds.
	Timeout time.Duration
}

// New returns a tool that calls an endpoint, or an [spool.Invalid] error that names the wrong field of
// config, without its secrets.
//
// Each request has the header Idempotency-Key, which is the same for every repeat of the call: see
// [store.RunRow.CallKey]. The headers [HeaderTenant], [HeaderSubject], [HeaderThread], [HeaderRun],
// [HeaderAgent] and [HeaderStep] say whose call it is, and [HeaderFence] which worker's. If the call waited for an
// answer, [HeaderAnsweredBy] says whose answer it was, and [HeaderPayload] has the answer's payload, in up to 4 KiB
// of ASCII. A longer payload needs [BodyEnvelope], and is an error of the call otherwise. These headers take
// precedence over Config.Headers.
//
// With SigningSecrets, each request has the headers of Standard Webhooks. Its id follows from the
// Idempotency-Key, and is the same for every repeat of the call: see [WebhookID].
//
// The result is the answer's JSON, or the answer as a JSON string if it is not JSON. A status other than 2xx
// is an error with the beginning of the body. Redirects are followed only within the host of the URL, and
// only if they repeat the method: after a POST, those are the statuses 307 and 308. Another redirect is an
// error: the endpoint may have executed the call by then, and a GET would not tell.
//
// No request leaves, and none is repeated, once the worker may have lost the run: see [spool.ToolCall.CheckLease].
//
// A call that is not idempotent is sent at most once, over a connection of its own. If such a call has no
// answer, its error is a [spool.OutcomeUnknownError].
func New(config Config) (spool.Tool, error) {
	e, err := endpoint.New(endpoint.Config{
		Tool: config.Name, Egress: config.Egress, Headers: config.Headers, MaxResultBytes: config.MaxResultBytes,
		Retry: config.Retry, Secrets: config.Secrets, SigningSecrets: config.SigningSecrets, Timeout: config.Timeout,
	})
	if err != nil {
		return spool.Tool{}, err
	}
	config.Method = cmp.Or(config.Method, http.MethodPost)
	config.Idempotent = config.Idempotent || config.Method == http.MethodGet
	h := &httpTool{config: config, endpoint: e}
	if h.plan, err = config.plan(); err != nil {
		return spool.Tool{}, err
	}
	switch h.config.Body = cmp.Or(config.Body, BodyArguments); {
	case h.config.Body != BodyArguments && h.config.Body != BodyEnvelope:
		return spool.Tool{}, spool.Errorf(spool.Invalid, "Body of tool %s must be %s or %s", config.Name, BodyArguments,
			BodyEnvelope)
	case h.config.Body == BodyEnvelope && h.plan.Body == argument.NoBody:
		return spool.Tool{}, spool.Errorf(spool.Invalid, "Body of tool %s: a %s has no body", config.Name, config.Method)
	}
	h.files = fileArguments(config.Parameters)
	tool, err := tool.FromSchema(config.Name, config.Description, config.Parameters, h.call)
	if err != nil {
		return spool.Tool{}, err
	}
	tool.Idempotent = config.Idempotent
	if config.Approval {
		tool.Approval = spool.AlwaysApprove
	}
	return tool, nil
}

// httpTool is a tool over one endpoint.
type httpTool struct {
	config   Config
	endpoint *endpoint.Endpoint
	plan     *argument.Plan
	// files are the arguments that may be files.
	files []string
}

func (h *httpTool) call(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
	var err error
	if c.Args, err = h.withFiles(ctx, c); err != nil {
		return nil, err
	}
	built, err := h.plan.Build(c.Args, nil)
	if err != nil {
		return nil, err
	}
	if h.config.Body == BodyEnvelope {
		if built.Body, err = enveloped(c); err != nil {
			return nil, err
		}
	}
	return h.endpoint.Do(ctx, c, endpoint.Request{
		Method: h.config.Method, URL: built.URL, Header: built.Header, Body: built.Body,
		Idempotent: h.config.Idempotent, Caller: true, Enveloped: h.config.Body == BodyEnvelope,
	})
}

// WebhookID returns the Webhook-Id of the signed request of a call: "call_" and 32 hex digits of the SHA-256 of
// the Idempotency-Key.
func WebhookID(c spool.ToolCall) string { return endpoint.WebhookID(c) }

// parsed returns the URL of a configuration.
func (c Config) parsed() (*url.URL, error) {
	target, err := url.Parse(c.URL)
	if err != nil || target.Host == "" || target.Scheme != "http" && target.Scheme != "https" {
		return nil, spool.Errorf(spool.Invalid, "URL of tool %s is not an http or https URL", c.Name)
	}
	return target, nil
}
