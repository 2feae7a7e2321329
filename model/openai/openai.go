// Package openai is the adapter for servers with OpenAI's chat completions interface: OpenAI itself,
// Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
//
// Servers deviate from OpenAI's description of the interface. The package follows what the servers
// really do. The comments of [Config] say what a program can switch off if a server refuses it.
package openai

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// DefaultBaseURL is the URL of OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

const (
	defaultHeaderTimeout = 120 * time.Second
	defaultIdleTimeout   = 60 * time.Second
)

// Config configures a [Model].
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string

	// APIKey is sent as a bearer token. If it is empty, no Authorization header is sent; most local
	// servers need none.
	APIKey string

	// BaseURL is the part of the URL before "/chat/completions". The requests keep its query.
	//
	// Defaults to [DefaultBaseURL].
	BaseURL string

	// ContextWindow is the size of the model's context window in tokens. Zero: not known.
	ContextWindow int

	// Extra is merged into each request body, for example sampling settings or "reasoning_effort". The
	// Extra of a request wins over it. Errors never show a value of 8 characters or more if the name of
	// its field, or of an enclosing field, contains "key", "token", "secret", "password", "auth" or a
	// similar word.
	//
	// Defaults to nothing.
	Extra map[string]any

	// HTTPClient makes the requests. The model does not follow redirects, and ignores the client's
	// CheckRedirect. The client's Timeout bounds a whole answer.
	//
	// Defaults to a client of its own over Transport.
	HTTPClient *http.Client

	// HeaderTimeout is how long the server may take until the first byte of an answer. In this time, a
	// local server loads the model and reads the prompt. -1: for ever.
	//
	// Defaults to 120 seconds.
	HeaderTimeout time.Duration

	// Headers are added to each request. Errors never show their values, because some are
	// keys.
	//
	// Defaults to none.
	Headers map[string]string

	// IdleTimeout is how long the server may send nothing after the first byte of an answer. Comments
	// that keep the connection alive count as bytes. -1: for ever.
	//
	// Defaults to 60 seconds.
	IdleTimeout time.Duration

	// MaxOutputTokens bounds each answer, in tokens. A request that asks for less gets less.
	//
	// Defaults to the server's bound.
	MaxOutputTokens int

	// MaxTokensField is the name of the request field for MaxOutputTokens.
	//
	// Defaults to "max_completion_tokens" for OpenAI and "max_tokens" elsewhere.
	MaxTokensField string

	// NoStreamUsage omits stream_options.include_usage, for servers that refuse it. Then the usage is
	// known only if the server reports it anyway.
	//
	// Defaults to false.
	NoStreamUsage bool

	// PromptCache is the hint for the server's prompt cache. Servers that cache by themselves
	// need none.
	//
	// Defaults to [CacheKey] for OpenAI, to [CacheMarks] for models of Anthropic and Google
	// behind OpenRouter, and to [CacheNone] elsewhere, because some servers refuse fields that
	// they do not know.
	PromptCache PromptCache

	// ReasoningField is the field of assistant messages in which requests repeat earlier reasoning,
	// such as "reasoning_content". OpenRouter's reasoning_details are always repeated.
	//
	// Defaults to none, because some servers refuse it.
	ReasoningField string

	// ReceiptCurrency is the currency of usage.cost, the cost of an answer. "-": the model ignores
	// usage.cost.
	//
	// Defaults to "USD" for OpenRouter and to "-" elsewhere, because other servers use the field for
	// something else.
	ReceiptCurrency string

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] at one URL. It is safe for concurrent use.
type Model struct {
	config  Config
	url     string
	host    string
	client  *http.Client
	secrets []string
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
	base, err := url.Parse(config.BaseURL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, spool.Errorf(spool.Invalid, "BaseURL is not an http or https URL")
	}
	if base.User != nil {
		return nil, spool.Errorf(spool.Invalid, "BaseURL must not have a user, use APIKey or Headers")
	}
	if strings.ContainsAny(config.APIKey, "\r\n\x00 ") {
		return nil, spool.Errorf(spool.Invalid, "APIKey has a blank or a line break in it")
	}
	if config.ContextWindow < 0 {
		return nil, spool.Errorf(spool.Invalid, "ContextWindow must not be negative")
	}
	if config.MaxOutputTokens < 0 {
		return nil, spool.Errorf(spool.Invalid, "MaxOutputTokens must not be negative")
	}
	if config.HeaderTimeout == 0 {
		config.HeaderTimeout = defaultHeaderTimeout
	}
	if config.IdleTimeout == 0 {
		config.IdleTimeout = defaultIdleTimeout
	}
	switch config.PromptCache {
	case "":
		config.PromptCache = knownCache(base.Hostname(), config.Model)
	case CacheNone, CacheKey, CacheMarks:
	default:
		return nil, spool.Errorf(spool.Invalid, "PromptCache must be none, key or marks")
	}
	if config.MaxTokensField == "" {
		config.MaxTokensField = "max_tokens"
		if base.Hostname() == "api.openai.com" {
			config.MaxTokensField = "max_completion_tokens"
		}
	}
	if config.ReceiptCurrency == "" {
		config.ReceiptCurrency = noReceipt
		if host := base.Hostname(); host == "openrouter.ai" || strings.HasSuffix(host, ".openrouter.ai") {
			config.ReceiptCurrency = "USD"
		}
	}
	config.Extra = maps.Clone(config.Extra)
	config.Headers = maps.Clone(config.Headers)
	return &Model{
		config:  config,
		url:     base.JoinPath("chat", "completions").String(),
		host:    base.Host,
		client:  newClient(config),
		secrets: configSecrets(config, base),
	}, nil
}

// newClient returns the client that makes the requests. It treats a redirect as an error, because only
// the operator's own host may get the key and the conversation.
func newClient(config Config) *http.Client {
	client := new(http.Client)
	if config.HTTPClient != nil {
		*client = *config.HTTPClient
	} else {
		client.Transport = config.Transport
	}
	if client.Transport == nil {
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			t = t.Clone()
			t.MaxIdleConnsPerHost = t.MaxIdleConns // all requests go to one host
			client.Transport = t
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// Describe returns "openai", also for other servers with OpenAI's interface, and the model's name.
func (m *Model) Describe() (provider, model string) { return "openai", m.config.Model }

// ContextWindow returns the size of the configured context window in tokens. Zero: not known.
func (m *Model) ContextWindow() int { return m.config.ContextWindow }
