// Package responses is the adapter for OpenAI's Responses interface, and for servers that offer the same.
//
// Each request has the whole conversation, and the server keeps nothing of it: store is false, and reasoning
// comes back encrypted. [Config.Background] changes that.
package responses

import (
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
	"github.com/spoolhq/spool/internal/openaiwire"
)

// DefaultBaseURL is the URL of OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

// defaultBackgroundTimeout is the default of Config.BackgroundTimeout.
const defaultBackgroundTimeout = time.Hour

// Config configures a [Model].
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string

	// APIKey is sent as a bearer token. If it is empty, no Authorization header is sent.
	APIKey string

	// Background lets the provider go on with an answer when the connection breaks or the process dies. The
	// model then yields a [spool.ResumePoint], and comes back to the answer instead of asking again. The
	// provider stores the answers (store is true), so customers with zero data retention cannot use
	// it. The first piece of an answer comes later than without it. The field "background" of a
	// request's Extra wins over it.
	//
	// Defaults to false.
	Background bool

	// BackgroundTimeout is how long the model waits for a background answer whose stream it cannot read. -1:
	// until the request's context ends.
	//
	// Defaults to an hour.
	BackgroundTimeout time.Duration

	// BaseURL is the part of the URL before "/responses". The requests keep its query.
	//
	// Defaults to [DefaultBaseURL].
	BaseURL string

	// ContextWindow is the size of the model's context window in tokens. Zero: not known.
	ContextWindow int

	// Extra is merged into each request body, for example sampling settings. The fields of its objects
	// "reasoning" and "text" are merged with those of the model. Its list "tools" has tools of the provider's
	// own, such as {"type":"web_search"}, and is added to the agent's tools. What such a tool does is in the
	// answer as [spool.ProviderPart]. The Extra of a request wins over it.
	// Errors never show a value of 8 characters or more if the name of its field, or of an enclosing
	// field, contains "key", "token", "secret", "password", "auth" or a similar word.
	//
	// Defaults to nothing.
	Extra map[string]any

	// HTTPClient makes the requests. The model does not follow redirects, and ignores the client's
	// CheckRedirect. The client's Timeout bounds a whole answer.
	//
	// Defaults to a client of its own over Transport.
	HTTPClient *http.Client

	// HeaderTimeout is how long the server may take until the first byte of an answer. -1: for ever.
	//
	// Defaults to 120 seconds.
	HeaderTimeout time.Duration

	// Headers are added to each request. Errors never show their values, because some are keys.
	//
	// Defaults to none.
	Headers map[string]string

	// IdleTimeout is how long the server may send nothing after the first byte of an answer. Comments
	// that keep the connection alive count as bytes. -1: for ever.
	//
	// Defaults to 60 seconds.
	IdleTimeout time.Duration

	// ItemIDs sends the ids of earlier items back with them. OpenAI refuses some of them if it has not stored
	// the items. The project endpoints of Azure AI Foundry refuse reasoning without its id
	// (https://github.com/dotnet/extensions/issues/7628).
	//
	// Defaults to false.
	ItemIDs bool

	// MaxOutputTokens bounds each answer, in tokens, with its reasoning. A request that asks for less gets
	// less.
	//
	// Defaults to the server's bound.
	MaxOutputTokens int

	// NoEncryptedReasoning omits the request for encrypted reasoning, for servers and models that refuse
	// it. Reasoning that comes without is shown, but not sent back.
	//
	// Defaults to true for OpenAI's models that do not reason, such as gpt-4.1.
	NoEncryptedReasoning bool

	// ReasoningEffort is the field effort of "reasoning", such as "low".
	//
	// Defaults to the model's own.
	ReasoningEffort string

	// ReasoningSummary is the field summary of "reasoning": "auto", "concise" or "detailed". It makes the
	// provider send summaries of the reasoning, which are all of it that people can read.
	//
	// Defaults to none.
	ReasoningSummary string

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// Store lets the provider store the answers. Nothing here needs them except Background.
	//
	// Defaults to false.
	Store bool

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] at one URL. It is safe for concurrent use.
type Model struct {
	config Config
	base   *url.URL
	conn   *openaiwire.Conn
}

var _ spool.Model = (*Model)(nil)

// New returns a model. It returns an [spool.Invalid] error that names the wrong field of config. It
// makes no request and reads nothing from the environment.
func New(config Config) (*Model, error) {
	if config.Model == "" {
		return nil, spool.Errorf(spool.Invalid, "Model is required")
	}
	if config.BaseURL == "" {
		config.BaseURL = DefaultBaseURL
	}
	base, err := openaiwire.BaseURL(config.BaseURL)
	if err != nil {
		return nil, err
	}
	if err := openaiwire.CheckKey(config.APIKey); err != nil {
		return nil, err
	}
	if config.ContextWindow < 0 {
		return nil, spool.Errorf(spool.Invalid, "ContextWindow must not be negative")
	}
	if config.MaxOutputTokens < 0 {
		return nil, spool.Errorf(spool.Invalid, "MaxOutputTokens must not be negative")
	}
	if config.HeaderTimeout == 0 {
		config.HeaderTimeout = openaiwire.DefaultHeaderTimeout
	}
	if config.IdleTimeout == 0 {
		config.IdleTimeout = openaiwire.DefaultIdleTimeout
	}
	if config.BackgroundTimeout == 0 {
		config.BackgroundTimeout = defaultBackgroundTimeout
	}
	config.NoEncryptedReasoning = config.NoEncryptedReasoning || knownNotToReason(config.Model)
	config.Extra = maps.Clone(config.Extra)
	config.Headers = maps.Clone(config.Headers)
	return &Model{
		config: config,
		base:   base.JoinPath("responses"),
		conn: &openaiwire.Conn{
			Client: modelhttp.NewClient(config.HTTPClient, config.Transport), Key: config.APIKey, Headers: config.Headers,
			HeaderTimeout: config.HeaderTimeout, IdleTimeout: config.IdleTimeout, Host: base.Host,
			Secrets: modelhttp.NewSecrets(append([]string{config.APIKey}, config.Secrets...), config.Headers, base,
				config.Extra),
		},
	}, nil
}
