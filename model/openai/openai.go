// Package openai is the adapter for servers with OpenAI's chat completions interface: OpenAI itself,
// Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
//
// Servers deviate from OpenAI's description of the interface. The package follows what the servers
// really do. The comments of [Config] say what a program can switch off if a server refuses it.
package openai

import (
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
	"github.com/spoolhq/spool/internal/openaiwire"
)

// DefaultBaseURL is the URL of OpenAI's own service.
const DefaultBaseURL = "https://api.openai.com/v1"

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

	// ResultImages sends the images and PDFs of tool results, in a message of a user after the results, because
	// a tool's message takes texts only. Without it, the model reads their names.
	//
	// Defaults to false, because many models that servers offer take no images.
	ResultImages bool

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// Structured is the way to ask for a JSON value: see [spool.ModelRequest].
	//
	// Defaults to [StructuredNative].
	Structured Structured

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] at one URL. It is safe for concurrent use.
type Model struct {
	config Config
	url    string
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
	switch config.PromptCache {
	case "":
		config.PromptCache = knownCache(base.Hostname(), config.Model)
	case CacheNone, CacheKey, CacheMarks:
	default:
		return nil, spool.Errorf(spool.Invalid, "PromptCache must be none, key or marks")
	}
	switch config.Structured {
	case "":
		config.Structured = StructuredNative
	case StructuredNative, StructuredTool:
	default:
		return nil, spool.Errorf(spool.Invalid, "Structured must be native or tool")
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
		config: config,
		url:    base.JoinPath("chat", "completions").String(),
		conn: &openaiwire.Conn{
			Client: modelhttp.NewClient(config.HTTPClient, config.Transport), Key: config.APIKey, Headers: config.Headers,
			HeaderTimeout: config.HeaderTimeout, IdleTimeout: config.IdleTimeout, Host: base.Host,
			Secrets: modelhttp.NewSecrets(append([]string{config.APIKey}, config.Secrets...), config.Headers, base, config.Extra),
		},
	}, nil
}

// Describe returns "openai", also for other servers with OpenAI's interface, and the model's name.
func (m *Model) Describe() (provider, model string) { return "openai", m.config.Model }

// ContextWindow returns the size of the configured context window in tokens. Zero: not known.
func (m *Model) ContextWindow() int { return m.config.ContextWindow }
