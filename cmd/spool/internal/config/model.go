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

// providers returns the providers with the options of their models, in the order in which errors name them. A new
// provider has a row here, and a file with its options.
func providers(m *Model) []variant {
	all := []variant{
		{word: ProviderOpenAI, options: openAIOptions(m)},
		{word: ProviderAnthropic, options: anthropicOptions(m), check: m.checkAnthropic},
		{word: ProviderGemini, options: geminiOptions(m), check: needBudget},
		{word: ProviderResponses, options: responsesOptions(m)},
		{word: ProviderDemo},
	}
	for _, name := range added {
		all = append(all, variant{word: name, options: addedOptions(m, name)})
	}
	return all
}

// added are the names of the providers that the program has added.
var added []string

// AddProvider adds a provider. Nothing may be parsed meanwhile.
func AddProvider(name string) error {
	if err := spool.CheckID("the name of a provider", name); err != nil {
		return err
	}
	if slices.Contains(variantWords(providers(new(Model))), name) {
		return spool.Errorf(spool.Invalid, "there is a provider %q already", name)
	}
	added = append(added, name)
	return nil
}

// addedOptions are the options of a model of a provider that the program has added.
func addedOptions(m *Model, name string) table {
	return slices.Concat(m.serverRows(name, ""), table{m.maxOutputTokens()}, m.requestRows(nil))
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
	"model", "messages", "tools", "stream", "stream_options", "n", "max_tokens", "max_completion_tokens",
	"max_output_tokens", "prompt_cache_key",
}

// ownHeaders are the headers of a request that follow from its body and its connection.
var ownHeaders = []string{
	"Accept", "Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Host", "Te",
	"Trailer", "Transfer-Encoding", "Upgrade",
}

// modelOptions are the options of all models.
func modelOptions() table {
	m := new(Model)
	all := providers(m)
	return slices.Concat(table{m.provider(all)}, merged(all), m.options())
}

func (m *Model) provider(all []variant) option {
	return row("provider", form(&m.Provider, variantWords(all)...),
		"openai: any server with the chat completions API. anthropic: the Messages API. gemini: the Gemini API. "+
			"responses: OpenAI's Responses API. demo: not a language model, it repeats the prompt.")
}

// options are those that the models of every provider have.
func (m *Model) options() table {
	return table{
		row("context_window", integer(&m.ContextWindow),
			"The most tokens of a prompt and its answer together. Default: unknown."),
		row("limits", fields(m.Limits.options()).then(m.Limits.check),
			"What the server allows to all workers together. Model calls wait for it. Default: no limits."),
		row("only_for", onlyFor(&m.Access), "Who may use the model. Default: everybody."),
	}
}

// model reads an entry of the section models, whose options have some keys.
func model(e entry, keys []string) Model {
	m := Model{Source: e.source(), Name: e.name}
	e.id()
	f, all := e.fields(keys...), providers(&m)
	append(m.options(), m.provider(all)).read(f)
	e.readVariant(f, all, m.Provider, "the "+m.Provider+" provider has no use for it")
	return m
}

// ProviderLimits is the field limits of a model: what the model's provider allows to all workers together. The
// zero value means that the file has none.
type ProviderLimits struct {
	Source

	// Group names what the provider counts together. Empty: the requests with one key.
	Group string
	// A zero number has no limit.
	Concurrent, RPM, TPM int
}

// None reports whether the file has no limits for the model.
func (l *ProviderLimits) None() bool { return l.Concurrent == 0 && l.RPM == 0 && l.TPM == 0 }

func (l *ProviderLimits) options() table {
	return table{
		row("concurrent", integer(&l.Concurrent), "The most requests at the same time. Default: no limit."),
		row("rpm", integer(&l.RPM), "The most requests in any minute. Default: no limit."),
		row("tpm", integer(&l.TPM), "The most tokens in any minute, of prompts and answers. Default: no limit."),
		row("group", optionalWord(&l.Group),
			"A name of your own. Models of the same group share the limits. Default: models with the same server "+
				"and key do."),
	}
}

func (l *ProviderLimits) check(v value) {
	l.Source = v.source()
	if !v.at("concurrent").present() && !v.at("rpm").present() && !v.at("tpm").present() {
		v.problemf("needs one of concurrent, rpm and tpm")
	}
}

// The rows below are for providers whose models have the option.

// serverRows are the options of every provider with a server. Each request adds endpoint to the base URL.
func (m *Model) serverRows(provider, endpoint string) table {
	baseURL := noting(httpURL(&m.BaseURL), func(used []string) {
		for _, value := range used {
			if !strings.HasPrefix(m.BaseURL, value) {
				m.Secrets = append(m.Secrets, value)
			}
		}
	}).then(func(v value) {
		if endpoint != "" && strings.HasSuffix(strings.TrimRight(m.BaseURL, "/"), endpoint) {
			v.problemf("must not end in %s, which each request adds", endpoint)
		}
	})
	return table{
		row("base_url", baseURL,
			"The part of the URL before /chat/completions (openai), /v1/messages (anthropic), /v1beta/models "+
				"(gemini) or /responses (responses). Default: the provider's own."),
		row("api_key", text(&m.APIKey).then(func(v value) {
			if strings.ContainsAny(m.APIKey, " \t\r\n\x00") { // for example the end of the line in a file with a secret
				v.problemf("must not have spaces or line breaks")
			}
		}), "The key, sent in the way of the provider. Default: none."),
		row("model", requiredIf("provider", provider, word(&m.Model)),
			"The server's name of the model. Required, but not for demo."),
	}
}

// requestRows are the headers and the further fields of the requests of a provider. Own are the fields that the engine
// sets.
func (m *Model) requestRows(own []string) table {
	return table{
		row("headers", secret(&m.Secrets, headers(&m.Headers, m.ownHeader)),
			`Headers of each request to the server, such as "X-Title". Their values are not logged.`),
		row("extra_body", secret(&m.Secrets, extraBody(&m.Extra, own)),
			"Further fields of each request, such as top_p or seed, but not those that the engine sets, such as "+
				"messages, tools or stream. Values from the environment are kept out of errors."),
	}
}

// temperature is late, because set changes what extra_body has.
func temperature(set func(v value, t float64)) option {
	var t *float64
	return row("temperature", late(number(&t, 0, maxTemperature).then(func(v value) {
		if t != nil {
			set(v, *t)
		}
	})), "From 0 to 2. Default: the server's.")
}

func (m *Model) maxOutputTokens() option {
	return row("max_output_tokens", integer(&m.MaxOutputTokens),
		"The most tokens of an answer, reasoning included. Default: the server's.")
}

func (m *Model) promptCache(words ...string) option {
	return row("prompt_cache", oneOf(&m.PromptCache, words...),
		"How requests use the server's cache: none, key or marks (openai), none, 5m or 1h (anthropic). Default: by "+
			"provider.")
}

func reasoningEffort(to *string, then func(v value)) option {
	return row("reasoning_effort", late(optionalWord(to).then(then)),
		"How much the model thinks: a value that the server knows, such as low, medium or high. Default: the "+
			"server's.")
}

func structuredOutput(to *string) option {
	return row("structured_output", oneOf(to, "native", "tool"),
		"How an answer gets the form of a schema: native, or tool for servers that cannot do it. Default: native.")
}

// thinking are the rows of a choice of words, and of the tokens that the word budget needs.
func thinking(to *string, budget *int, least int, words ...string) table {
	return table{
		row("thinking", oneOf(to, words...),
			"Whether the model thinks: adaptive (anthropic), minimal, low, medium or high (gemini), budget or off. "+
				"Default: the server's."),
		row("thinking_budget", atLeast(budget, least).then(func(v value) {
			if *to != "budget" {
				v.problemf("is only for thinking: budget")
			}
		}), "The most tokens of thinking. Only for thinking: budget."),
	}
}

// needBudget complains if the word budget of thinking has no tokens.
func needBudget(v value) {
	if at := v.at("thinking_budget"); v.at("thinking").quiet() == "budget" && !at.present() {
		at.problemf("is required: thinking is budget")
	}
}

// extra sets a field of the requests that has its own name in the file.
func (m *Model) extra(v value, name string, set any) {
	if _, ok := m.Extra[name]; ok {
		v.problemf("is in extra_body too: leave one of them out")
	}
	put(&m.Extra, name, set)
}

// headers are headers of requests. Own returns why the file may not have a header, or "".
func headers(to *map[string]string, own func(name string) string) kind {
	return mapping(shape{kind: kindText}, func(e entry) {
		name, text := textproto.CanonicalMIMEHeaderKey(e.name), e.text()
		_, twice := (*to)[name]
		switch {
		case !e.present(): // an empty header is surely a mistake
			e.problemf("must be text")
		case !server.ValidHeaderName(e.name):
			e.problemf("must be the name of a header")
		case own(name) != "":
			e.problemf("%s", own(name))
		case twice:
			e.problemf("is there twice")
		case controlled(text):
			e.problemf("has a line break or another control character in it")
		}
		put(to, name, text)
	})
}

// setByEngine says that the file may not have a header.
const setByEngine = "is a header that the engine sets"

func (m *Model) ownHeader(name string) string {
	switch {
	case slices.Contains(ownHeaders, name):
		return setByEngine
	case name == "Authorization" && m.APIKey != "":
		return "stands in place of api_key: leave one of them out"
	}
	return ""
}

// controlled reports whether text has characters that no header can have.
func controlled(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// extraBody are the further fields of a model's requests. Own are the fields that the engine sets.
func extraBody(to *map[string]any, own []string) kind {
	var raw json.RawMessage
	var within map[string]Source
	return object(&raw, &within).then(func(v value) {
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber() // so that the provider gets each number as the file has it
		if err := d.Decode(to); err != nil {
			return // object has already complained
		}
		for _, name := range slices.Sorted(maps.Keys(*to)) {
			if slices.Contains(own, name) {
				text := "is a field that the engine sets"
				if strings.HasPrefix(name, "max_") {
					text += ", by max_output_tokens"
				}
				v.d.add(within[below(v.path, name)].Errorf("%s", text))
			}
		}
	})
}
