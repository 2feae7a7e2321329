// Package gemini is the adapter for Google's Gemini API.
//
// # Thought signatures
//
// Gemini signs parts of its answers: texts, thoughts and function calls. It wants each signature back on the
// same part. The adapter keeps a signature exactly as it was received, in the part's Provider data, and sends it
// back only to the model that made it. A signed part is never joined with another part.
//
// From Gemini 3 on, the API answers 400 if the first function call of a step has no signature. For calls that
// another model made, or that lost their signature, the adapter sends the signature
// "skip_thought_signature_validator", which Google documents for this purpose at
// https://ai.google.dev/gemini-api/docs/thought-signatures#faqs. Texts of other models are sent without a
// signature, and their reasoning is not sent. Reasoning of the same model is sent only if a signature belongs to it.
//
// # What the API lacks
//
// The Gemini API sends the arguments of a function call whole, so they come in one piece. It caches prompts by
// itself: the cache key and the cache marks of a request are not used.
package gemini

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/modelhttp"
)

// DefaultBaseURL is the URL of Google's own service.
const DefaultBaseURL = "https://generativelanguage.googleapis.com"

const (
	defaultHeaderTimeout = 120 * time.Second
	defaultIdleTimeout   = 60 * time.Second

	// apiVersion is the version in the path of each request.
	apiVersion = "v1beta"
)

// Config configures a [Model].
type Config struct {
	// Model is Google's name of the model, such as "gemini-3-flash-preview". Required.
	Model string

	// APIKey is sent in the header x-goog-api-key, never in a URL. If it is empty, no key is sent, which is for
	// a gateway that adds the key.
	APIKey string

	// BaseURL is the part of the URL before "/v1beta/models". It has no query.
	//
	// Defaults to [DefaultBaseURL].
	BaseURL string

	// ContextWindow is the size of the model's context window in tokens. Zero: not known.
	ContextWindow int

	// Extra is merged into each request body, objects field by field: for example
	// {"generationConfig": {"temperature": 0.2}}. Its list of tools is added to the functions. The Extra of a request
	// wins over it. Errors never show a value of 8 characters or more if the name of its field, or of an enclosing
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

	// IdleTimeout is how long the server may send nothing after the first byte of an answer. -1: for
	// ever.
	//
	// Defaults to 60 seconds.
	IdleTimeout time.Duration

	// IncludeThoughts asks for summaries of the model's thoughts, which become reasoning. Models that do not
	// think refuse the request.
	//
	// Defaults to false.
	IncludeThoughts bool

	// MaxOutputTokens bounds each answer with its thoughts, in tokens. A request that asks for less gets less.
	//
	// Defaults to the model's bound.
	MaxOutputTokens int

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// ThinkingBudget bounds the model's thoughts in tokens, for Gemini 2.5. Zero: no thoughts. -1: the model
	// decides. It excludes ThinkingLevel.
	//
	// Defaults to nil, the model's own budget.
	ThinkingBudget *int

	// ThinkingLevel says how much the model thinks, for Gemini 3 and later. It excludes ThinkingBudget.
	//
	// Defaults to the model's own level.
	ThinkingLevel ThinkingLevel

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// ThinkingLevel says how much a model thinks. Not every model knows every level.
type ThinkingLevel string

// The levels.
const (
	ThinkingMinimal ThinkingLevel = "MINIMAL"
	ThinkingLow     ThinkingLevel = "LOW"
	ThinkingMedium  ThinkingLevel = "MEDIUM"
	ThinkingHigh    ThinkingLevel = "HIGH"
)

// Model is a [spool.Model] at one URL. It is safe for concurrent use.
type Model struct {
	config  Config
	host    string
	url     string
	client  *http.Client
	secrets modelhttp.Secrets
}

var _ spool.Model = (*Model)(nil)

var modelExpr = regexp.MustCompile(`^(models/|tunedModels/)?[A-Za-z0-9][A-Za-z0-9._-]*$`)

// New returns a model. It returns an [spool.Invalid] error that names the wrong field of config. It
// makes no request and reads nothing from the environment.
func New(config Config) (*Model, error) {
	base, err := config.check()
	if err != nil {
		return nil, err
	}
	config.HeaderTimeout = cmp.Or(config.HeaderTimeout, defaultHeaderTimeout)
	config.IdleTimeout = cmp.Or(config.IdleTimeout, defaultIdleTimeout)
	config.Extra = maps.Clone(config.Extra)
	config.Headers = maps.Clone(config.Headers)

	name := config.Model
	if !strings.Contains(name, "/") {
		name = "models/" + name
	}
	target := base.JoinPath(apiVersion, name+":streamGenerateContent")
	target.RawQuery = "alt=sse"
	return &Model{
		config:  config,
		host:    base.Host,
		url:     target.String(),
		client:  modelhttp.NewClient(config.HTTPClient, config.Transport),
		secrets: modelhttp.NewSecrets(append([]string{config.APIKey}, config.Secrets...), config.Headers, nil, config.Extra),
	}, nil
}

// check returns the base URL, or an error for a wrong field.
func (c *Config) check() (*url.URL, error) {
	base, err := url.Parse(cmp.Or(c.BaseURL, DefaultBaseURL))
	switch {
	case c.Model == "":
		return nil, spool.Errorf(spool.Invalid, "Model is required")
	case !modelExpr.MatchString(c.Model):
		return nil, spool.Errorf(spool.Invalid, "Model is not the name of a model")
	case err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https":
		return nil, spool.Errorf(spool.Invalid, "BaseURL is not an http or https URL")
	case base.User != nil:
		return nil, spool.Errorf(spool.Invalid, "BaseURL must not have a user, use APIKey or Headers")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, spool.Errorf(spool.Invalid, "BaseURL must not have a query, use APIKey or Headers")
	case strings.ContainsAny(c.APIKey, "\r\n\x00 "):
		return nil, spool.Errorf(spool.Invalid, "APIKey has a blank or a line break in it")
	case c.ContextWindow < 0:
		return nil, spool.Errorf(spool.Invalid, "ContextWindow must not be negative")
	case c.MaxOutputTokens < 0 || c.MaxOutputTokens > maxInt32:
		return nil, spool.Errorf(spool.Invalid, "MaxOutputTokens must be from 0 to %d", maxInt32)
	}
	if err := c.checkThinking(); err != nil {
		return nil, err
	}
	// Google's documentation shows the URL with the version.
	base.Path = strings.TrimSuffix(strings.TrimSuffix(base.Path, "/"), "/"+apiVersion)
	return base, nil
}

func (c *Config) checkThinking() error {
	switch c.ThinkingLevel {
	case "", ThinkingMinimal, ThinkingLow, ThinkingMedium, ThinkingHigh:
	default:
		return spool.Errorf(spool.Invalid, "ThinkingLevel must be MINIMAL, LOW, MEDIUM or HIGH")
	}
	if c.ThinkingBudget == nil {
		return nil
	}
	if c.ThinkingLevel != "" {
		return spool.Errorf(spool.Invalid, "ThinkingBudget and ThinkingLevel exclude each other")
	}
	if *c.ThinkingBudget < -1 || *c.ThinkingBudget > maxInt32 {
		return spool.Errorf(spool.Invalid, "ThinkingBudget must be from -1 to %d", maxInt32)
	}
	return nil
}
