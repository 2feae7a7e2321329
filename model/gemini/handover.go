package gemini

import (
	"context"
	"errors"
	"net/http"
)

const (
	keyHeader = "X-Goog-Api-Key"
	// noKey stands for no key, because the SDK refuses an empty one. It is never sent.
	noKey = "none"
)

// errNoExchange is the error for a request of the SDK that no call of Stream has made.
var errNoExchange = errors.New("request without an exchange")

// exchange takes the response to the request of one call of Stream.
type exchange struct {
	response *http.Response
	err      error
}

type exchangeKey struct{}

// handover is the transport of the SDK. It makes the SDK's request, gives the response to the exchange, and an
// empty response to the SDK.
//
// The SDK must not read the answer. It decodes whole numbers in arguments as floating-point numbers and signatures
// as bytes, reads events of 256 MB, writes to the standard logger, panics on JSON of another shape,
// and makes further requests on its own when a stream with a continuation token breaks.
type handover struct {
	client *http.Client
	config Config
}

// RoundTrip makes the request of the SDK.
func (h *handover) RoundTrip(r *http.Request) (*http.Response, error) {
	e, ok := r.Context().Value(exchangeKey{}).(*exchange)
	if !ok || e.response != nil {
		return nil, errNoExchange
	}
	r = r.Clone(r.Context())
	r.Header.Set("Accept", "text/event-stream")
	if h.config.APIKey == "" {
		r.Header.Del(keyHeader)
	}
	for name, value := range h.config.Headers {
		r.Header.Set(name, value)
	}
	e.response, e.err = h.client.Do(r) //nolint:gosec // the URL is the operator's
	if e.err != nil {
		return nil, e.err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Body: http.NoBody, Request: r,
	}, nil
}

// withExchange returns a context whose request is given to the exchange.
func withExchange(ctx context.Context) (context.Context, *exchange) {
	e := new(exchange)
	return context.WithValue(ctx, exchangeKey{}, e), e
}
