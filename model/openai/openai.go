// Package openai is the adapter for servers with OpenAI's chat completions interface: OpenAI itself,
// Ollama, llama.cpp, vLLM, LM Studio, OpenRouter and others.
//
// Servers deviate from OpenAI's description of the interface. The package follows what the servers
// really do. [Profiles] has what they send and want, and the fields of [Config] change single points of it.
package openai

import (
	"cmp"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"sync/atomic"
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

	// AnswerAfterResults puts a short answer of the model between tool results and a message of a user. Such a message
	// steers a run, or asks for the answer when the steps are used up. Mistral's models refuse it without.
	//
	// Defaults to the profile's, which is false for unknown servers.
	AnswerAfterResults *bool

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
	// Defaults to the profile's, or else to 120 seconds.
	HeaderTimeout time.Duration

	// Headers are added to each request. Errors never show their values, because some are
	// keys.
	//
	// Defaults to none.
	Headers map[string]string

	// IdleTimeout is how long the server may send nothing after the first byte of an answer. Comments
	// that keep the connection alive count as bytes. -1: for ever.
	//
	// Defaults to the profile's, or else to 60 seconds.
	IdleTimeout time.Duration

	// Log gets a line when the server refuses a field and takes the request in another form.
	//
	// Defaults to none.
	Log *slog.Logger

	// MaxOutputTokens bounds each answer, in tokens. A request that asks for less gets less.
	//
	// Defaults to the server's bound.
	MaxOutputTokens int

	// MaxTokensField is the name of the request field for MaxOutputTokens.
	//
	// Defaults to the profile's.
	MaxTokensField string

	// OutputFromTotal says that the server's count of the output leaves the reasoning out, so that the output is the
	// total without the prompt.
	//
	// Defaults to the profile's.
	OutputFromTotal *bool

	// ParallelToolCalls says whether the server takes the field parallel_tool_calls. False removes it from Extra.
	//
	// Defaults to the profile's.
	ParallelToolCalls *bool

	// Profile is the name of one of the [Profiles], which says what the server sends and wants.
	//
	// Defaults to the profile of the host in BaseURL, or else to the one for all other servers.
	Profile string

	// PromptCache is the hint for the server's prompt cache. Servers that cache by themselves
	// need none.
	//
	// Defaults to the profile's, which is [CacheNone] for unknown servers, because some refuse fields that they
	// do not know.
	PromptCache PromptCache

	// ReasoningField is the field of assistant messages in which requests repeat earlier reasoning,
	// such as "reasoning_content". "content" stands for a part of the content. "-": none. OpenRouter's
	// reasoning_details are always repeated.
	//
	// Defaults to the profile's field. The profile of an unknown server has no field, because some servers refuse it.
	ReasoningField string

	// ReasoningNeeded says which messages must have ReasoningField.
	//
	// Defaults to the profile's.
	ReasoningNeeded ReasoningNeeded

	// ReceiptCurrency is the currency of the cost that the server reports for an answer, in usage.cost or in
	// usage.cost_in_usd_ticks. "-": the model ignores it.
	//
	// Defaults to the profile's, which is "-" for unknown servers, because some use the field for something else.
	ReceiptCurrency string

	// ResultImages sends the images and PDFs of tool results, in a message of a user after the results, because
	// a tool's message takes texts only. Without it, the model reads that it does not get them.
	//
	// Defaults to the profile's, which is true for unknown servers. A server that refuses images is asked again without.
	ResultImages *bool

	// Secrets are further texts of 8 characters or more that errors never show. Errors never show
	// APIKey, Headers and the secret fields of Extra in any case.
	//
	// Defaults to none.
	Secrets []string

	// StreamUsage sends stream_options.include_usage. Without it, the usage is known only if the server reports it
	// anyway.
	//
	// Defaults to the profile's, which is true for unknown servers.
	StreamUsage *bool

	// StrictSchemas marks the schemas of answers as strict if OpenAI's strict mode takes them.
	//
	// Defaults to the profile's, which is true for unknown servers.
	StrictSchemas *bool

	// Structured is the way to ask for a JSON value: see [spool.ModelRequest].
	//
	// Defaults to [StructuredNative].
	Structured Structured

	// ThinkingTags takes the text between <think> and </think> at the beginning of an answer for reasoning.
	//
	// Defaults to the profile's, which is true for unknown servers.
	ThinkingTags *bool

	// Transport is used when HTTPClient is nil.
	//
	// Defaults to a copy of [http.DefaultTransport] that keeps more idle connections to the
	// provider's host.
	Transport http.RoundTripper
}

// Model is a [spool.Model] at one URL. It is safe for concurrent use.
type Model struct {
	config  Config
	profile Profile
	url     string
	conn    *openaiwire.Conn
	// fromTotal and tags are OutputFromTotal and ThinkingTags.
	fromTotal, tags bool
	// form is replaced, and never changed, when the model learns. The caller that replaces it must hold learning.
	form     atomic.Pointer[form]
	learning sync.Mutex
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
	profile, found := profileOf(config.Profile, base, config.Model)
	if !found {
		return nil, unknownProfile()
	}
	config.HeaderTimeout = cmp.Or(config.HeaderTimeout, profile.HeaderTimeout, openaiwire.DefaultHeaderTimeout)
	config.IdleTimeout = cmp.Or(config.IdleTimeout, profile.IdleTimeout, openaiwire.DefaultIdleTimeout)
	config.PromptCache = cmp.Or(config.PromptCache, profile.PromptCache, CacheNone)
	config.ReasoningNeeded = cmp.Or(config.ReasoningNeeded, profile.ReasoningNeeded, NeededNever)
	config.ReceiptCurrency = cmp.Or(config.ReceiptCurrency, profile.ReceiptCurrency, none)
	config.Structured = cmp.Or(config.Structured, StructuredNative)
	if config.Log == nil {
		config.Log = slog.New(slog.DiscardHandler)
	}
	switch {
	case config.PromptCache != CacheNone && config.PromptCache != CacheKey && config.PromptCache != CacheMarks:
		return nil, spool.Errorf(spool.Invalid, "PromptCache must be none, key or marks")
	case config.ReasoningNeeded != NeededNever && config.ReasoningNeeded != NeededCalls &&
		config.ReasoningNeeded != NeededAlways:
		return nil, spool.Errorf(spool.Invalid, "ReasoningNeeded must be never, calls or always")
	case config.Structured != StructuredNative && config.Structured != StructuredTool:
		return nil, spool.Errorf(spool.Invalid, "Structured must be native or tool")
	}
	config.Extra = maps.Clone(config.Extra)
	config.Headers = maps.Clone(config.Headers)
	m := &Model{
		config: config, profile: profile,
		url:       base.JoinPath("chat", "completions").String(),
		fromTotal: isOn(config.OutputFromTotal, profile.OutputFromTotal),
		tags:      isOn(config.ThinkingTags, profile.ThinkingTags),
		conn: &openaiwire.Conn{
			Client: modelhttp.NewClient(config.HTTPClient, config.Transport), Key: config.APIKey, Headers: config.Headers,
			HeaderTimeout: config.HeaderTimeout, IdleTimeout: config.IdleTimeout, Host: base.Host,
			Secrets: modelhttp.NewSecrets(append([]string{config.APIKey}, config.Secrets...), config.Headers, base,
				config.Extra),
		},
	}
	f := &form{
		images:    isOn(config.ResultImages, !profile.NoResultImages),
		maxTokens: cmp.Or(config.MaxTokensField, profile.MaxTokensField, "max_tokens"),
		reasoning: cmp.Or(config.ReasoningField, profile.ReasoningField), needed: config.ReasoningNeeded,
		cache: config.PromptCache, streamUsage: isOn(config.StreamUsage, !profile.NoStreamUsage),
		strict:             isOn(config.StrictSchemas, !profile.NoStrictSchemas),
		parallel:           isOn(config.ParallelToolCalls, !profile.NoParallelToolCalls),
		answerAfterResults: isOn(config.AnswerAfterResults, profile.AnswerAfterResults),
	}
	if f.reasoning == none {
		f.reasoning = ""
	}
	m.form.Store(f)
	return m, nil
}

// none is the value of a text field that switches off what the profile has.
const none = "-"

// isOn returns the value of a switch that may be left out.
func isOn(set *bool, otherwise bool) bool {
	if set != nil {
		return *set
	}
	return otherwise
}

// Profile returns the name of the model's profile: see [Profiles].
func (m *Model) Profile() string { return m.profile.Name }
