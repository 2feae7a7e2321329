package config

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/textproto"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server"
)

// The providers of a [Model].
const (
	ProviderOpenAI = "openai"
	ProviderDemo   = "demo"
)

// Model is an entry of the section models.
type Model struct {
	Source

	// Access says who may use the model.
	Access spool.Access

	Name     string
	Provider string
	BaseURL  string
	APIKey   string
	// Model is the provider's name of the model.
	Model string
	// ContextWindow is in tokens. Zero: unknown.
	ContextWindow int
	// MaxOutputTokens limits an answer. Zero: the file has none.
	MaxOutputTokens int
	// PromptCache says how requests use the server's cache. Empty: the default of the provider.
	PromptCache string
	// Headers are sent with each request. Their values may be secrets.
	Headers map[string]string
	// Extra are fields of each request: temperature, reasoning_effort and extra_body.
	Extra map[string]any
	// Limits are those of the model's provider.
	Limits ProviderLimits
	// Secrets are the values of the environment in Headers and Extra.
	Secrets []string
}

// maxTemperature is the highest temperature that servers accept.
const maxTemperature = 2

// ownFields are the fields of a request that only the engine sets.
var ownFields = []string{
	"model", "messages", "tools", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens", "max_output_tokens", "prompt_cache_key",
}

// ownHeaders are the headers of a request that follow from its body and its connection.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// modelFields are the fields of a model.
var modelFields = slices.Concat([]string{"provider"}, openAIFields, []string{"context_window", "limits", "only_for"})

// openAIFields are the fields of a model that only the provider openai uses.
var openAIFields = []string{
	"base_url", "api_key", "model", "prompt_cache", "temperature", "max_output_tokens", "reasoning_effort", "headers", "extra_body",
}

func model(e entry) Model {
	f := e.fields(modelFields...)
	m := Model{Source: e.source(), Access: onlyFor(f["only_for"]), Name: e.name, ContextWindow: f["context_window"].integer()}
	m.Limits = providerLimits(f["limits"])
	e.id()
	if f["provider"].required() {
		m.Provider = f["provider"].word()
		f["provider"].among(m.Provider, ProviderOpenAI, ProviderDemo)
	}
	switch m.Provider {
	case ProviderOpenAI:
		m.openAI(f)
	case ProviderDemo:
		for _, name := range openAIFields {
			if f[name].present() {
				f[name].problemf("the demo provider has no use for it")
			}
		}
	}
	return m
}

func (m *Model) openAI(f map[string]value) {
	m.BaseURL, m.APIKey, m.PromptCache = f["base_url"].url(), f["api_key"].text(), f["prompt_cache"].text()
	if strings.ContainsAny(m.APIKey, " \t\r\n\x00") { // for example the end of the line in a file with a secret
		f["api_key"].problemf("must not have spaces or line breaks")
	}
	if f["model"].requiredWhere("provider", ProviderOpenAI) {
		m.Model = f["model"].word()
	}
	f["prompt_cache"].among(m.PromptCache, "none", "key", "marks")
	m.MaxOutputTokens = f["max_output_tokens"].integer()
	d := f["headers"].d
	used := len(d.used)
	m.Headers = modelHeaders(f["headers"], m.APIKey != "")
	m.Extra = extraBody(f["extra_body"])
	m.Secrets = slices.Clone(d.used[used:])
	if t := f["temperature"].number(0, maxTemperature); t != nil {
		m.extra(f["temperature"], "temperature", *t)
	}
	if effort := f["reasoning_effort"].optionalWord(); effort != "" {
		m.extra(f["reasoning_effort"], "reasoning_effort", effort)
	}
}

// extra sets a field of the requests that has its own name in the file.
func (m *Model) extra(v value, name string, set any) {
	if _, ok := m.Extra[name]; ok {
		v.problemf("is in extra_body too: leave one of them out")
	}
	if m.Extra == nil {
		m.Extra = make(map[string]any)
	}
	m.Extra[name] = set
}

// modelHeaders reads the headers of a model's requests.
func modelHeaders(v value, keyed bool) map[string]string {
	var out map[string]string
	for _, e := range v.entries() {
		name, text := textproto.CanonicalMIMEHeaderKey(e.name), e.text()
		_, twice := out[name]
		switch {
		case !e.present(): // an empty header is surely a mistake
			e.problemf("must be text")
		case !server.ValidHeaderName(e.name):
			e.problemf("must be the name of a header")
		case slices.Contains(ownHeaders, name):
			e.problemf("is a header that the engine sets")
		case name == "Authorization" && keyed:
			e.problemf("stands in place of api_key: leave one of them out")
		case twice:
			e.problemf("is there twice")
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			e.problemf("has a line break or another control character in it")
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = text
	}
	return out
}

// extraBody reads the further fields of a model's requests.
func extraBody(v value) map[string]any {
	text, within := v.object()
	if text == nil {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // so that the provider gets each number as the file has it
	var out map[string]any
	if err := d.Decode(&out); err != nil {
		return nil // object has already complained
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		if slices.Contains(ownFields, name) {
			text := "is a field that the engine sets"
			if strings.HasPrefix(name, "max_") {
				text += ", by max_output_tokens"
			}
			v.d.problems = append(v.d.problems, within[below(v.path, name)].Errorf("%s", text))
		}
	}
	return out
}
