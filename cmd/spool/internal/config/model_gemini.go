package config

// Gemini has the fields of a model of the provider gemini. An empty field has the adapter's default.
type Gemini struct {
	// ThinkingLevel is one of the API's levels, in capitals.
	ThinkingLevel string
	// ThinkingBudget is in tokens. Nil: the model's own.
	ThinkingBudget *int
	// IncludeThoughts asks for summaries of the thoughts.
	IncludeThoughts bool
}

// geminiFields are the fields of a model of the provider gemini.
var geminiFields = []string{
	"base_url", "api_key", "model", "temperature", "max_output_tokens", "thinking", "thinking_budget", "include_thoughts", "headers", "extra_body",
}

// geminiOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them: Google's own
// tools are added to the agent's.
var geminiOwnFields = []string{"model", "contents", "systemInstruction", "continuationToken"}

// geminiOwnSettings are the fields of generationConfig that only the adapter sets.
var geminiOwnSettings = []string{"maxOutputTokens", "thinkingConfig", "responseMimeType", "responseJsonSchema", "responseSchema", "candidateCount"}

// geminiLevels are the levels of thinking by their words.
var geminiLevels = map[string]string{"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}

func (m *Model) gemini(f map[string]value) {
	m.server(f, geminiOwnFields)
	m.geminiSettings(f)
	thinking, budget := f["thinking"].text(), f["thinking_budget"].integer()
	f["thinking"].among(thinking, "minimal", "low", "medium", "high", "budget", "off")
	switch {
	case thinking == "budget" && !f["thinking_budget"].present():
		f["thinking_budget"].problemf("is required: thinking is budget")
	case thinking != "budget" && f["thinking_budget"].present():
		f["thinking_budget"].problemf("is only for thinking: budget")
	}
	m.Gemini.ThinkingLevel = geminiLevels[thinking]
	if thinking == "budget" || thinking == "off" {
		m.Gemini.ThinkingBudget = &budget // zero for off
	}
	m.Gemini.IncludeThoughts = thinking != "" && thinking != "off"
	if f["include_thoughts"].present() {
		m.Gemini.IncludeThoughts = f["include_thoughts"].boolean()
	} else {
		f["include_thoughts"].boolean() // for the schema
	}
}

// geminiSettings reads the temperature, and checks generationConfig in extra_body.
func (m *Model) geminiSettings(f map[string]value) {
	settings, ok := m.Extra["generationConfig"].(map[string]any)
	if _, there := m.Extra["generationConfig"]; there && !ok {
		f["extra_body"].problemf("has a generationConfig that is not an object")
	}
	for _, name := range geminiOwnSettings {
		if _, there := settings[name]; there {
			f["extra_body"].problemf("has %s in generationConfig, which the engine sets", name)
		}
	}
	t := f["temperature"].number(0, maxTemperature)
	if t == nil {
		return
	}
	if _, there := settings["temperature"]; there {
		f["temperature"].problemf("is in extra_body too: leave one of them out")
	}
	if settings == nil {
		settings = make(map[string]any)
	}
	settings["temperature"] = *t
	if m.Extra == nil {
		m.Extra = make(map[string]any)
	}
	m.Extra["generationConfig"] = settings
}
