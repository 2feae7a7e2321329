// Package openai speaks to servers with OpenAI's chat completions interface: OpenAI
// itself, Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
//
// It goes by what servers do rather than by what the interface says: see the comments
// of [Config] for what can be switched off where a server objects.
package openai

import (
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// DefaultBaseURL is where OpenAI is.
const DefaultBaseURL = "https://api.openai.com/v1"

const (
	defaultHeaderTimeout = 120 * time.Second
	defaultIdleTimeout   = 60 * time.Second
)

// Config configures a [Model].
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string

	// APIKey is sent as a bearer token. Empty: no Authorization header, as for most
	// local servers.
	APIKey string

	// BaseURL is what comes before "/chat/completions". A query is kept.
	//
	// Defaults to [DefaultBaseURL].
	BaseURL string

	// ContextWindow is how many tokens the model has room for. Zero: not known.
	ContextWindow int

	// Extra is merged into each request body, under the Extra of the request itself:
	// sampling settings, "reasoning_effort" and the like. Values of 8 characters or more are
	// kept out of errors where the name of their field, or of one around it, says that they
	// are secret: where it has "key", "token", "secret", "password" or "auth" in it, or a word
	// like these.
	//
	// Defaults to nothing.
	Extra map[string]any

	// HTTPClient makes the requests. Its CheckRedirect is not used, as redirects are
	// not followed, and its Timeout would bound a whole answer.
	//
	// Defaults to a client of its own over Transport.
	HTTPClient *http.Client

	// HeaderTimeout is how long the first byte of an answer may take, which for a local
	// server includes loading the model and reading the prompt. -1: for ever.
	//
	// Defaults to 120 seconds.
	HeaderTimeout time.Duration

	// Headers are added to each request. Their values are kept out of errors, as some
	// are keys.
	//
	// Defaults to none.
	Headers map[string]string

	// IdleTimeout is how long an answer that has begun may be silent. Comments that a
	// server sends to keep the connection count as a sign of life. -1: for ever.
	//
	// Defaults to 60 seconds.
	IdleTimeout time.Duration

	// MaxOutputTokens bounds each answer, in tokens. A request that asks for less gets less.
	//
	// Defaults to the server's bound.
	MaxOutputTokens int

	// MaxTokensField is the field that carries MaxOutputTokens.
	//
	// Defaults to "max_completion_tokens" for OpenAI and "max_tokens" elsewhere.
	MaxTokensField string

	// NoStreamUsage leaves out stream_options.include_usage, for servers that refuse
	// it. Usage is then known only where the server tells it unasked.
	//
	// Defaults to false.
	NoStreamUsage bool

	// PromptCache is what the server is told of what will be asked again. Servers that cache
	// by themselves need nothing.
	//
	// Defaults to [CacheKey] for OpenAI, to [CacheMarks] for models of Anthropic and Google
	// behind OpenRouter, and to [CacheNone] elsewhere, as some servers refuse what they do
	// not know.
	PromptCache PromptCache

	// ReasoningField is the field of earlier assistant messages in which the text of
	// their reasoning is sent back, such as "reasoning_content". What OpenRouter calls
	// reasoning_details is always sent back.
	//
	// Defaults to none, as some servers refuse it.
	ReasoningField string

	// ReceiptCurrency is the currency in which the server says, as usage.cost, what an
	// answer cost. "-": what it says is not read.
	//
	// Defaults to "USD" for OpenRouter and to "-" elsewhere, as others mean other things by
	// it.
	ReceiptCurrency string

	// Secrets are kept out of errors too, from 8 characters on. APIKey, and what the comments of
	// Headers and Extra say, need not be repeated here.
	//
	// Defaults to none.
	Secrets []string

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a transport like [http.DefaultTransport], which keeps more idle connections
	// to the provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] behind one URL. It is safe for concurrent use.
type Model struct {
	config  Config
	url     string
	host    string
	client  *http.Client
	secrets []string
}

var _ spool.Model = (*Model)(nil)

// New returns a model, or an invalid error that names the field of config which is
// wrong. It makes no request and reads nothing from the environment.
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

// newClient returns the client that makes the requests. A redirect is an error: the key
// and the conversation belong to the host that the operator named.
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
			t.MaxIdleConnsPerHost = t.MaxIdleConns // there is one host
			client.Transport = t
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}

// Describe returns "openai", whose interface it is, whoever serves it, and the model's name.
func (m *Model) Describe() (provider, model string) { return "openai", m.config.Model }

// ContextWindow returns how many tokens the model has room for, zero when that is not
// known.
func (m *Model) ContextWindow() int { return m.config.ContextWindow }
