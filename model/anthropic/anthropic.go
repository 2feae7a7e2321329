// Package anthropic is the adapter for Anthropic's Messages API.
//
// Blocks that the provider signed go back unchanged and in their places. What the provider wants back is saved
// as {"anthropic":{"model":"<Config.Model>", ...}} with the part that it belongs to. Reasoning and provider
// parts of another provider or another model are left out of a request.
package anthropic

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
)

// DefaultBaseURL is the URL of Anthropic's own service.
const DefaultBaseURL = "https://api.anthropic.com"

const (
	defaultHeaderTimeout = 120 * time.Second
	defaultIdleTimeout   = 60 * time.Second
)

// Config configures a [Model].
type Config struct {
	// Model is the provider's name of the model, such as "claude-sonnet-4-5". Required.
	Model string

	// APIKey is sent as x-api-key. If it is empty, no such header is sent.
	APIKey string

	// BaseURL is the part of the URL before "/v1/messages". The requests do not keep its query.
	//
	// Defaults to [DefaultBaseURL].
	BaseURL string

	// BufferedInput leaves out eager_input_streaming. The provider then sends the arguments of a tool call
	// only when they are valid JSON as a whole, in fewer and later pieces.
	//
	// Defaults to false.
	BufferedInput bool

	// Cache is how long the provider keeps the prefixes of a request that the engine marks.
	//
	// Defaults to [CacheShort].
	Cache Cache

	// ContextWindow is the size of the model's context window in tokens. Zero: not known.
	ContextWindow int

	// Extra is merged into each request body, for example sampling settings. The Extra of a request wins over
	// it. Its "tools" are added to the agent's tools, and its "output_config" is merged with the model's own.
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

	// Headers are added to each request, such as "anthropic-beta". Errors never show their values, because
	// some are keys.
	//
	// Defaults to none.
	Headers map[string]string

	// IdleTimeout is how long the server may send nothing after the first byte of an answer. A ping counts. -1:
	// for ever.
	//
	// Defaults to 60 seconds.
	IdleTimeout time.Duration

	// MaxOutputTokens bounds each answer, its thinking included. A request that asks for less gets less. It
	// must be larger than a budget of Thinking.
	//
	// Defaults to 32,000, or to less for models that are known to write less. A budget of Thinking is
	// added to it. The provider has no default of its own.
	MaxOutputTokens int

	// Output is how an answer gets the form of [spool.ModelRequest.Output].
	//
	// Defaults to [OutputNative].
	Output Output

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// Thinking says whether and how much the model thinks before it answers.
	//
	// Defaults to the provider's default for the model.
	Thinking Thinking

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] of the Messages API. It is safe for concurrent use.
type Model struct {
	config  Config
	url     string
	host    string
	client  *http.Client
	secrets modelhttp.Secrets
}

var (
	_ spool.Model     = (*Model)(nil)
	_ spool.Described = (*Model)(nil)
)

// New returns a model. It returns an [spool.Invalid] error that names the wrong field of config. It makes no
// request and reads nothing from the environment.
func New(config Config) (*Model, error) {
	base, err := config.check()
	if err != nil {
		return nil, err
	}
	if config.HeaderTimeout == 0 {
		config.HeaderTimeout = defaultHeaderTimeout
	}
	if config.IdleTimeout == 0 {
		config.IdleTimeout = defaultIdleTimeout
	}
	config.Extra = maps.Clone(config.Extra)
	config.Headers = maps.Clone(config.Headers)
	target := base.JoinPath("v1", "messages")
	target.RawQuery = ""
	return &Model{
		config:  config,
		url:     target.String(),
		host:    base.Host,
		client:  modelhttp.NewClient(config.HTTPClient, config.Transport),
		secrets: modelhttp.NewSecrets(append([]string{config.APIKey}, config.Secrets...), config.Headers, base, config.Extra),
	}, nil
}

// check returns the parsed base URL.
func (c *Config) check() (*url.URL, error) {
	if c.Model == "" {
		return nil, spool.Errorf(spool.Invalid, "Model is required")
	}
	base, err := url.Parse(cmp.Or(c.BaseURL, DefaultBaseURL))
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return nil, spool.Errorf(spool.Invalid, "BaseURL is not an http or https URL")
	}
	switch {
	case base.User != nil:
		return nil, spool.Errorf(spool.Invalid, "BaseURL must not have a user, use APIKey or Headers")
	case strings.ContainsAny(c.APIKey, "\r\n\x00 "):
		return nil, spool.Errorf(spool.Invalid, "APIKey has a blank or a line break in it")
	case c.ContextWindow < 0:
		return nil, spool.Errorf(spool.Invalid, "ContextWindow must not be negative")
	case c.MaxOutputTokens < 0:
		return nil, spool.Errorf(spool.Invalid, "MaxOutputTokens must not be negative")
	case !slices.Contains([]Cache{"", CacheShort, CacheLong, CacheOff}, c.Cache):
		return nil, spool.Errorf(spool.Invalid, "Cache must be 5m, 1h or off")
	case !slices.Contains([]Output{"", OutputNative, OutputTool}, c.Output):
		return nil, spool.Errorf(spool.Invalid, "Output must be native or tool")
	}
	return base, c.Thinking.check(c.MaxOutputTokens)
}

// withSecrets returns a copy of the model that also redacts the secrets in the extra fields of one
// request.
func (m *Model) withSecrets(extra map[string]any) *Model {
	if len(extra) == 0 {
		return m
	}
	with := *m
	with.secrets = m.secrets.With(extra)
	return &with
}
