package endpoint

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/lease"
)

// maxErrorBody bounds how much of an error's body the model gets to read.
const maxErrorBody = 2000

// attempt sends the request once and reads the answer. It sends nothing if the worker of the call may have lost its
// run.
func (e *Endpoint) attempt(
	ctx context.Context, c spool.ToolCall, r Request, header http.Header, timeout time.Duration,
) outcome {
	if err := c.CheckLease(ctx); err != nil {
		return outcome{err: err}
	}
	var connected atomic.Bool
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	guard := lease.Guard{Check: func() error { return c.CheckLease(ctx) }}
	traced := httptrace.WithClientTrace(bounded, &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) {
		connected.Store(true)
		guard.GotConn(info, cancel)
	}})
	request, err := http.NewRequestWithContext(traced, r.Method, r.URL.String(), bytes.NewReader(r.Body))
	if err != nil {
		return outcome{err: spool.Errorf(spool.Internal, "make request to %s", r.URL.Host)}
	}
	request.Header = header.Clone()
	if e.signer != nil {
		if err := e.signer.Sign(request.Header, WebhookID(c), time.Now(), r.Body); err != nil {
			return outcome{err: err}
		}
	}
	client := e.kept
	if !r.Idempotent {
		client, request.Close = e.once, true
	}
	response, err := client.Do(request)
	if refused := guard.Refused(); refused != nil && err != nil {
		return outcome{err: refused}
	}
	if err != nil {
		return e.failed(ctx, r, timeout, err, connected.Load())
	}
	defer response.Body.Close()
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return e.refused(r, response)
	}
	most, mostText := e.maxResult(c)
	body, err := io.ReadAll(io.LimitReader(response.Body, int64(most)+1))
	if err != nil {
		return e.failed(ctx, r, timeout, err, true)
	}
	text, isText := textOf(response.Header.Get("Content-Type"), body)
	switch {
	case len(body) > most:
	case !isText:
		got, err := e.saveFile(ctx, c, response, body)
		return outcome{result: got, err: err}
	case len(body) <= mostText:
		got, err := result(e.clean(text))
		return outcome{result: got, err: err}
	default:
		most = mostText
	}
	return outcome{
		err: spool.Errorf(spool.Limit, "the tool was executed, but the answer of %s is larger than %d bytes", r.URL.Host,
			most),
	}
}

// WebhookID returns the id with which the request of a call is signed: "call_" and 32 hex digits of the
// SHA-256 of the call's idempotency key. It is the same for every repeat of the call. The key itself may have
// full stops, which no id may have.
func WebhookID(c spool.ToolCall) string {
	sum := sha256.Sum256([]byte(c.IdempotencyKey()))
	return "call_" + hex.EncodeToString(sum[:16])
}

// failed returns the outcome of a request without a complete answer. Its error leaves out the URL, because
// the query may contain a key.
func (e *Endpoint) failed(ctx context.Context, r Request, timeout time.Duration, err error, connected bool) outcome {
	if ctx.Err() != nil {
		return outcome{err: ctx.Err()}
	}
	out := outcome{kind: unsent}
	if connected {
		out.kind = unknown
	}
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if known, ok := errors.AsType[*spool.Error](err); ok { // the egress policy refuses the address
		return outcome{err: known}
	}
	message := "reach " + r.URL.Host
	switch {
	case errors.Is(err, errOtherHost), errors.Is(err, errOtherMethod), errors.Is(err, errCircle):
		out.kind, message = final, r.URL.Host+" "+err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		message = fmt.Sprintf("%s did not answer within %s", r.URL.Host, timeout.Round(time.Millisecond))
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		out.kind = final
	}
	out.err = &spool.Error{Code: spool.Unavailable, Message: message, Err: e.cause(err)}
	if out.kind == unknown && !r.Idempotent {
		out.err = &spool.OutcomeUnknownError{Err: out.err}
	}
	return out
}

// beginning returns the first bytes of a body that is an error, without secrets, also not a part of one at its end.
// Even a part of the body helps the model.
func (e *Endpoint) beginning(from io.Reader) []byte {
	longest := 0
	if len(e.secrets) > 0 {
		longest = len(e.secrets[0])
	}
	body, _ := io.ReadAll(io.LimitReader(from, int64(maxErrorBody+longest)))
	text := e.clean(body)
	if len(body) == maxErrorBody+longest {
		text = text[:max(0, len(text)-longest)]
	}
	return text[:min(len(text), maxErrorBody)]
}

// refused returns the outcome of an answer with a status other than 2xx.
func (e *Endpoint) refused(r Request, response *http.Response) outcome {
	status := response.StatusCode
	message := fmt.Sprintf("%s answered with status %d", r.URL.Host, status)
	if text := strings.TrimSpace(strings.ToValidUTF8(string(e.beginning(response.Body)), "\ufffd")); text != "" {
		message += ": " + text
	}
	out := outcome{err: spool.Errorf(spool.Invalid, "%s", message)}
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		out.err = spool.Errorf(spool.Unavailable, "%s", message)
	}
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		out.kind = unknown
	}
	if after, ok := busyAfter(response, time.Now()); ok {
		out.kind, out.after = busy, after
	}
	return out
}
