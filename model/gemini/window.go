package gemini

import (
	"cmp"
	"strings"

	"github.com/spoolhq/spool"
)

// windows maps prefixes of well-known models' names to context windows. The longest prefix wins.
var windows = map[string]int{
	"gemini-1.5-pro":           2_097_152,
	"gemini-1.5-flash":         1_048_576,
	"gemini-2":                 1_048_576,
	"gemini-2.5-flash-image":   32_768,
	"gemini-3":                 1_048_576,
	"gemini-3-pro-image":       65_536,
	"gemini-flash-latest":      1_048_576,
	"gemini-flash-lite-latest": 1_048_576,
	"gemini-pro-latest":        1_048_576,
	"gemma-3":                  131_072,
	"gemma-3-1b":               32_768,
}

// baseName returns the name of a model without "models/" or a vendor before it.
func baseName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

// knownWindow returns the context window of a well-known model, or zero if it is unknown.
func knownWindow(name string) int {
	name = baseName(name)
	best, window := 0, 0
	for prefix, size := range windows {
		if len(prefix) > best && strings.HasPrefix(name, prefix) {
			best, window = len(prefix), size
		}
	}
	return window
}

var _ spool.WindowLookup = (*Model)(nil)

// LookupWindow returns the context window of a well-known model, found by Config.Model or else by name.
// It returns zero if neither is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(knownWindow(m.config.Model), knownWindow(name))
}

// old reports whether the model is of Gemini 1 or 2, or a Gemma. Old models accept calls without a signature, and
// refuse an output schema together with functions, and media inside a function response. A model
// with an unknown name counts as new.
func old(model string) bool {
	name := baseName(model)
	for _, prefix := range []string{"gemini-1.", "gemini-1-", "gemini-2.", "gemini-2-", "gemma-", "learnlm-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
