package main

import (
	"maps"

	"github.com/spoolhq/spool/internal/knownmodel"
)

// families are the windows of models that the public table lacks or has wrong, by the beginnings of their names.
var families = map[string]int{
	"claude-":                  200_000,
	"gemini-1.5-flash":         1_048_576,
	"gemini-1.5-pro":           2_097_152,
	"gemini-2":                 1_048_576,
	"gemini-2.5-flash-image":   32_768,
	"gemini-3":                 1_048_576,
	"gemini-3-pro-image":       65_536,
	"gemini-flash-latest":      1_048_576,
	"gemini-flash-lite-latest": 1_048_576,
	"gemini-pro-latest":        1_048_576,
	"gemma-3":                  131_072,
	"gemma-3-1b":               32_768,
	"gpt-5":                    400_000,
	"gpt-5.4-mini":             400_000,
	"gpt-5.4-nano":             400_000,
	"mistral-large":            128_000,
	"mistral-medium":           131_072,
	"mistral-small":            131_072,
	"o1":                       200_000,
	"o1-mini":                  128_000,
	"o1-preview":               128_000,
	"o3":                       200_000,
	"o4-mini":                  200_000,
}

// windows returns the windows by the beginnings of names. It leaves out each name whose shorter beginning has the
// same window.
func windows(models []model) map[string]int {
	table := maps.Clone(families)
	for _, m := range models {
		name, size := knownmodel.Plain(m.name), m.window()
		if _, known := families[knownmodel.Undated(name)]; size > 0 && !known && knownmodel.Longest(table, name) != size {
			table[name] = size
		}
	}
	return table
}

// window returns the tokens of a prompt and its answer.
func (m model) window() int {
	input, output := int(m.numbers["max_input_tokens"]), int(m.numbers["max_output_tokens"])
	switch {
	case input == 272_000: // the window of 400,000 without the answer
		return input + output
	case m.maker == "anthropic" && m.step() > 0: // the rest of the window needs a header
		return int(m.step()) * 1000
	default:
		return input
	}
}
