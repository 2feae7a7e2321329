package config

// Anthropic has the fields of a model of the provider anthropic. An empty field has the adapter's default.
type Anthropic struct {
	// Thinking is adaptive, budget or off, with a budget in tokens, and summarized or omitted as its display.
	Thinking        string
	ThinkingBudget  int
	ThinkingDisplay string
	// Output is how an answer gets the form of a schema: native or tool.
	Output string
}

// anthropicFields are the fields of a model of the provider anthropic.
var anthropicFields = []string{
	"base_url", "api_key", "model", "prompt_cache", "temperature", "max_output_tokens", "thinking", "thinking_budget", "thinking_display",
	"structured_output", "headers", "extra_body",
}

// anthropicOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them: the
// service's own tools are added to the agent's.
var anthropicOwnFields = []string{"model", "messages", "system", "stream", "max_tokens", "thinking"}

func (m *Model) anthropic(f map[string]value) {
	m.server(f, anthropicOwnFields)
	m.temperature(f["temperature"])
	a := Anthropic{
		Thinking: f["thinking"].text(), ThinkingBudget: f["thinking_budget"].atLeast(minThinkingBudget), ThinkingDisplay: f["thinking_display"].text(),
		Output: f["structured_output"].text(),
	}
	m.PromptCache = f["prompt_cache"].text()
	if m.PromptCache == "key" || m.PromptCache == "marks" {
		f["prompt_cache"].problemf("%s is only for the provider openai; there are 5m, 1h and none", m.PromptCache)
	}
	f["prompt_cache"].among(m.PromptCache, "5m", "1h", "none")
	f["thinking"].among(a.Thinking, "adaptive", "budget", "off")
	f["thinking_display"].among(a.ThinkingDisplay, "summarized", "omitted")
	f["structured_output"].among(a.Output, "native", "tool")
	switch {
	case a.Thinking == "budget" && !f["thinking_budget"].present():
		f["thinking_budget"].problemf("is required: thinking is budget")
	case a.Thinking != "budget" && f["thinking_budget"].present():
		f["thinking_budget"].problemf("is only for thinking: budget")
	case m.MaxOutputTokens > 0 && m.MaxOutputTokens <= a.ThinkingBudget:
		f["max_output_tokens"].problemf("is less than thinking_budget and a token for the answer")
	}
	if a.ThinkingDisplay != "" && a.Thinking != "adaptive" && a.Thinking != "budget" {
		f["thinking_display"].problemf("is only for thinking: adaptive or budget")
	}
	m.Anthropic = a
}

// minThinkingBudget is the smallest budget that the service takes.
const minThinkingBudget = 1024
