package config

import "slices"

// Gemini has the fields of a model of the provider gemini. An empty field has the adapter's default.
type Gemini struct {
	// ThinkingLevel is one of the API's levels, in capitals.
	ThinkingLevel string
	// ThinkingBudget is in tokens. Nil: the model's own.
	ThinkingBudget *int
	// IncludeThoughts asks for summaries of the thoughts.
	IncludeThoughts bool
}

// geminiOwnFields are the fields of a request that only the adapter sets. The list of tools is not one of them:
// Google's own tools are added to the agent's.
var geminiOwnFields = []string{"model", "contents", "systemInstruction", "continuationToken"}

// geminiOwnSettings are the fields of generationConfig that only the adapter sets.
var geminiOwnSettings = []string{
	"maxOutputTokens", "thinkingConfig", "responseMimeType", "responseJsonSchema", "responseSchema", "candidateCount",
}

// geminiLevels are the levels of thinking by their words.
var geminiLevels = map[string]string{"minimal": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}

// geminiOptions are the options of a model of the provider gemini.
func geminiOptions(m *Model) table {
	g := &m.Gemini
	var words string
	var budget int
	t := thinking(&words, &budget, 1, "minimal", "low", "medium", "high", "budget", "off")
	t[0].kind = t[0].then(func(value) {
		g.ThinkingLevel, g.IncludeThoughts = geminiLevels[words], words != "" && words != "off"
		if words == "budget" || words == "off" {
			g.ThinkingBudget = &budget // zero for off
		}
	})
	request := m.requestRows(geminiOwnFields)
	request[1].kind = request[1].then(m.checkSettings)
	return slices.Concat(m.serverRows(ProviderGemini, "/v1beta/models"), table{
		temperature(m.geminiTemperature),
		m.maxOutputTokens(),
	}, t, table{
		row("include_thoughts", boolean(&g.IncludeThoughts),
			"true: show summaries of the thoughts (gemini). Default: true if thinking is set and not off."),
	}, request)
}

// checkSettings checks generationConfig in extra_body.
func (m *Model) checkSettings(v value) {
	settings, ok := m.Extra["generationConfig"].(map[string]any)
	if _, there := m.Extra["generationConfig"]; there && !ok {
		v.problemf("has a generationConfig that is not an object")
	}
	for _, name := range geminiOwnSettings {
		if _, there := settings[name]; there {
			v.problemf("has %s in generationConfig, which the engine sets", name)
		}
	}
}

// geminiTemperature puts the temperature into generationConfig.
func (m *Model) geminiTemperature(v value, t float64) {
	settings, _ := m.Extra["generationConfig"].(map[string]any)
	if _, there := settings["temperature"]; there {
		v.problemf("is in extra_body too: leave one of them out")
	}
	put(&settings, "temperature", any(t))
	put(&m.Extra, "generationConfig", any(settings))
}
