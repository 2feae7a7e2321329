package cloud

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/spoolhq/spool/internal/modelhttp"
	"github.com/spoolhq/spool/model/anthropic"
)

// maxError bounds how many bytes of an error's body are read.
const maxError = 64 << 10

// newModel returns a model whose requests go through the SDK. Without a BaseURL, the access knows where to, and errors
// name the cloud.
func newModel(config anthropic.Config, cloud string, access option.RequestOption) (*anthropic.Model, error) {
	config.BufferedInput = true
	config.Output = cmp.Or(config.Output, anthropic.OutputTool)
	options := []option.RequestOption{
		option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0), // the engine retries
		option.WithHTTPClient(modelhttp.NewClient(config.HTTPClient, config.Transport)),
		access,
		option.WithMiddleware(bounded),
	}
	if config.BaseURL != "" {
		options = append(options, option.WithBaseURL(config.BaseURL))
	}
	config.BaseURL = cmp.Or(config.BaseURL, "https://"+cloud)
	config.HTTPClient, config.Transport = nil, &transport{sdk.NewClient(options...)}
	return anthropic.New(config)
}

// transport sends the requests of a model with the client of Anthropic's SDK.
type transport struct{ client sdk.Client }

// RoundTrip sends the request to where the client sends it, whatever its URL.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	defer r.Body.Close()
	options := make([]option.RequestOption, 0, len(r.Header))
	for name, values := range r.Header {
		options = append(options, option.WithHeader(name, strings.Join(values, ", ")))
	}
	var response *http.Response
	err := t.client.Execute(r.Context(), r.Method, "v1/messages", r.Body, &response, options...)
	if refused, ok := errors.AsType[*sdk.Error](err); ok {
		return refused.Response, nil
	}
	// The client of the model adds the request to the error, too.
	if outer, ok := errors.AsType[*url.Error](err); ok {
		err = outer.Err
	}
	if err != nil {
		return nil, err
	}
	return response, nil
}

// bounded bounds the body of an error, which the client reads as a whole. It is nearest to the network.
func bounded(r *http.Request, next option.MiddlewareNext) (*http.Response, error) {
	response, err := next(r)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxError), response.Body}
	}
	return response, err
}
