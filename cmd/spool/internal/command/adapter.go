package command

import (
	"cmp"
	"log/slog"
	"net/url"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/model/anthropic"
	"github.com/spoolhq/spool/model/gemini"
	"github.com/spoolhq/spool/model/openai"
	"github.com/spoolhq/spool/model/responses"
)

// adapter makes the models of a provider.
type adapter struct {
	// base is the URL of the provider's own service.
	base string
	open func(m config.Model, log *slog.Logger) (spool.Model, error)
}

// adapters are the adapters by the provider of a model. The demo provider has none.
var adapters = map[string]adapter{
	config.ProviderOpenAI:    {openai.DefaultBaseURL, openOpenAI},
	config.ProviderAnthropic: {anthropic.DefaultBaseURL, openAnthropic},
	config.ProviderGemini:    {gemini.DefaultBaseURL, openGemini},
	config.ProviderResponses: {responses.DefaultBaseURL, openResponses},
}

// baseOf returns the URL of a model's server.
func baseOf(m config.Model) string { return cmp.Or(m.BaseURL, adapters[m.Provider].base) }

// hostOf returns the host of a URL, without anything that could be a secret.
func hostOf(base string) string {
	u, err := url.Parse(base)
	if err != nil {
		return "?"
	}
	return u.Host
}

// plain returns a model, or nil with the error of making it.
func plain[M spool.Model](m M, err error) (spool.Model, error) {
	if err != nil {
		return nil, err
	}
	return m, nil
}

func openOpenAI(m config.Model, log *slog.Logger) (spool.Model, error) {
	o := m.OpenAI
	return plain(openai.New(openai.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow, Log: log,
		PromptCache: openai.PromptCache(m.PromptCache), MaxOutputTokens: m.MaxOutputTokens, Headers: m.Headers,
		Extra: m.Extra, Secrets: m.Secrets, Structured: openai.Structured(m.StructuredOutput), Profile: o.Profile,
		MaxTokensField: o.MaxTokensField, ReasoningField: noneOf(o.ReasoningField),
		ReasoningNeeded: openai.ReasoningNeeded(o.ReasoningNeeded), ReceiptCurrency: noneOf(o.ReceiptCurrency),
		HeaderTimeout: o.FirstByteTimeout, IdleTimeout: o.IdleTimeout, StreamUsage: o.StreamUsage,
		StrictSchemas: o.StrictSchemas, ParallelToolCalls: o.ParallelToolCalls, ResultImages: o.ResultImages,
		ThinkingTags: o.ThinkingTags, OutputFromTotal: o.OutputFromTotal, AnswerAfterResults: o.AnswerAfterResults,
	}))
}

// noneOf returns the value of an adapter's field for the word of the file.
func noneOf(word string) string {
	if word == "none" {
		return "-"
	}
	return word
}

// profileOf describes the profile of a model, or returns "" for a model without one that says anything.
func profileOf(m config.Model, model spool.Model) string {
	profiled, ok := model.(interface{ Profile() string })
	if !ok {
		return ""
	}
	var parts []string
	switch name := profiled.Profile(); {
	case m.OpenAI.Profile != "":
		parts = append(parts, name+", by its name")
	case name != "default":
		parts = append(parts, name+", by its host")
	}
	if len(m.OpenAI.Set) > 0 {
		parts = append(parts, "with "+strings.Join(m.OpenAI.Set, ", "))
	}
	return strings.Join(parts, "; ")
}

func openAnthropic(m config.Model, _ *slog.Logger) (spool.Model, error) {
	cache := anthropic.Cache(m.PromptCache)
	if m.PromptCache == "none" {
		cache = anthropic.CacheOff
	}
	a := m.Anthropic
	return plain(anthropic.New(anthropic.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow, Cache: cache,
		MaxOutputTokens: m.MaxOutputTokens, Headers: m.Headers, Extra: m.Extra, Secrets: m.Secrets,
		Output: anthropic.Output(a.Output),
		Thinking: anthropic.Thinking{
			Mode: anthropic.Mode(a.Thinking), Budget: a.ThinkingBudget, Display: anthropic.Display(a.ThinkingDisplay),
		},
	}))
}

func openGemini(m config.Model, _ *slog.Logger) (spool.Model, error) {
	return plain(gemini.New(gemini.Config{
		Model: m.Model, APIKey: m.APIKey, BaseURL: m.BaseURL, ContextWindow: m.ContextWindow,
		MaxOutputTokens: m.MaxOutputTokens, Headers: m.Headers, Extra: m.Extra, Secrets: m.Secrets,
		ThinkingLevel: gemini.ThinkingLevel(m.Gemini.ThinkingLevel), ThinkingBudget: m.Gemini.ThinkingBudget,
		IncludeThoughts: m.Gemini.IncludeThoughts,
	}))
}
