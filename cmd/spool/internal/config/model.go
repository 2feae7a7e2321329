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
	ProviderOpenAI    = "openai"
	ProviderAnthropic = "anthropic"
	ProviderGemini    = "gemini"
	ProviderResponses = "responses"
	ProviderDemo      = "demo"
)

// providerKind says how the models of a provider are read.
type providerKind struct {
	name string
	// fields are the fields of its models, besides those that every model has.
	fields []string
	read   func(m *Model, f map[string]value)
}

// providerKinds returns the providers, in the order in which errors name them. A new provider has a row here, and
// a file with its fields.
func providerKinds() []providerKind {
	return []providerKind{
		{ProviderOpenAI, openAIFields, (*Model).openAI},
		{ProviderAnthropic, anthropicFields, (*Model).anthropic},
		{ProviderGemini, geminiFields, (*Model).gemini},
		{ProviderResponses, responsesFields, (*Model).responses},
		{ProviderDemo, nil, func(*Model, map[string]value) {}},
	}
}

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
	// StructuredOutput is how an answer gets the form of a schema: native or tool. Empty: the adapter's default.
	StructuredOutput string
	// Headers are sent with each request. Their values may be secrets.
	Headers map[string]string
	// Extra are fields of each request: temperature, reasoning_effort and extra_body.
	Extra map[string]any
	// Limits are those of the model's provider.
	Limits ProviderLimits
	// Secrets are the values of the environment in Headers and Extra.
	Secrets []string
	// OpenAI has the fields that only the provider openai uses.
	OpenAI OpenAI
	// Anthropic has the fields that only the provider anthropic uses.
	Anthropic Anthropic
	// Responses has the fields of the provider responses.
	Responses Responses
	// Gemini has the fields that only the provider gemini uses.
	Gemini Gemini
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

// providerFields returns the fields that some provider uses, each once.
func providerFields() []string {
	var all []string
	for _, kind := range providerKinds() {
		for _, name := range kind.fields {
			if !slices.Contains(all, name) {
				all = append(all, name)
			}
		}
	}
	return all
}

func model(e entry) Model {
	own := providerFields()
	f := e.fields(slices.Concat([]string{"provider"}, own, []string{"context_window", "limits", "only_for"})...)
	m := Model{Source: e.source(), Access: onlyFor(f["only_for"]), Name: e.name, ContextWindow: f["context_window"].integer()}
	m.Limits = providerLimits(f["limits"])
	e.id()
	kinds := providerKinds()
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.name
	}
	if f["provider"].required() {
		m.Provider = f["provider"].word()
		f["provider"].among(m.Provider, names...)
	}
	for _, kind := range kinds {
		if kind.name != m.Provider {
			continue
		}
		for _, name := range own {
			if f[name].present() && !slices.Contains(kind.fields, name) {
				f[name].problemf("the %s provider has no use for it", kind.name)
			}
		}
		kind.read(&m, f)
	}
	return m
}

// endpoints are the paths that the providers' requests add to a base URL.
var endpoints = map[string]string{
	ProviderOpenAI: "/chat/completions", ProviderAnthropic: "/v1/messages", ProviderGemini: "/v1beta/models", ProviderResponses: "/responses",
}

// server reads the fields that every provider with a server has. Own are the fields of a request that the engine
// sets.
func (m *Model) server(f map[string]value, own []string) {
	d := f["base_url"].d
	used := len(d.used)
	m.BaseURL = f["base_url"].url()
	inURL := slices.DeleteFunc(slices.Clone(d.used[used:]), func(value string) bool { return strings.HasPrefix(m.BaseURL, value) })
	if end := endpoints[m.Provider]; strings.HasSuffix(strings.TrimRight(m.BaseURL, "/"), end) {
		f["base_url"].problemf("must not end in %s, which each request adds", end)
	}
	m.APIKey = f["api_key"].text()
	if strings.ContainsAny(m.APIKey, " \t\r\n\x00") { // for example the end of the line in a file with a secret
		f["api_key"].problemf("must not have spaces or line breaks")
	}
	if f["model"].requiredWhere("provider", m.Provider) {
		m.Model = f["model"].word()
	}
	m.MaxOutputTokens = f["max_output_tokens"].integer()
	used = len(d.used)
	m.Headers = modelHeaders(f["headers"], m.APIKey != "")
	m.Extra = extraBody(f["extra_body"], own)
	m.Secrets = slices.Concat(inURL, d.used[used:])
}

// temperature reads the field of this name.
func (m *Model) temperature(v value) {
	if t := v.number(0, maxTemperature); t != nil {
		m.extra(v, "temperature", *t)
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
		case controlled(text):
			e.problemf("has a line break or another control character in it")
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = text
	}
	return out
}

// extraBody reads the further fields of a model's requests. Own are the fields that the engine sets.
func extraBody(v value, own []string) map[string]any {
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
		if slices.Contains(own, name) {
			text := "is a field that the engine sets"
			if strings.HasPrefix(name, "max_") {
				text += ", by max_output_tokens"
			}
			v.d.problems = append(v.d.problems, within[below(v.path, name)].Errorf("%s", text))
		}
	}
	return out
}
