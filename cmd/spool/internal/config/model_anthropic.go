package config

import "slices"

// Anthropic has the fields of a model of the provider anthropic. An empty field has the adapter's default.
type Anthropic struct {
	// Thinking is adaptive, budget or off, with a budget in tokens, and summarized or omitted as its display.
	Thinking        string
	ThinkingBudget  int
	ThinkingDisplay string
	// Output is how an answer gets the form of a schema: native or tool.
	Output string
}

// anthropicOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them: the
// service's own tools are added to the agent's.
var anthropicOwnFields = []string{"model", "messages", "system", "stream", "max_tokens", "thinking"}

// minThinkingBudget is the smallest budget that the service takes.
const minThinkingBudget = 1024

// anthropicOptions are the options of a model of the provider anthropic.
func anthropicOptions(m *Model) table {
	a := &m.Anthropic
	cache := m.promptCache("5m", "1h", "none")
	read := cache.read
	cache.read = func(v value) {
		if word := v.quiet(); word == "key" || word == "marks" {
			v.problemf("%s is only for the provider openai; there are 5m, 1h and none", word)
		}
		read(v)
	}
	return slices.Concat(m.serverRows(ProviderAnthropic, "/v1/messages"), table{
		cache,
		temperature(func(v value, t float64) { m.extra(v, "temperature", t) }),
		m.maxOutputTokens(),
	}, thinking(&a.Thinking, &a.ThinkingBudget, minThinkingBudget, "adaptive", "budget", "off"), table{
		row("thinking_display", oneOf(&a.ThinkingDisplay, "summarized", "omitted").then(func(v value) {
			if a.ThinkingDisplay != "" && a.Thinking != "adaptive" && a.Thinking != "budget" {
				v.problemf("is only for thinking: adaptive or budget")
			}
		}), "What is shown of the thinking: summarized or omitted. Default: the server's."),
		structuredOutput(&a.Output),
	}, m.requestRows(anthropicOwnFields))
}

func (m *Model) checkAnthropic(v value) {
	needBudget(v)
	if m.MaxOutputTokens > 0 && m.MaxOutputTokens <= m.Anthropic.ThinkingBudget {
		v.at("max_output_tokens").problemf("is less than thinking_budget and a token for the answer")
	}
}
