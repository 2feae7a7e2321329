package anthropic

import (
	"cmp"
	"strings"
)

const (
	usualWindow = 200_000
	usualOutput = 32_000
)

// outputs maps prefixes of older models' names to the bounds of their answers. The longest prefix wins.
var outputs = map[string]int{
	"claude-3-":     4_096,
	"claude-3-5-":   8_192,
	"claude-3-7-":   usualOutput,
	"claude-2":      4_096,
	"claude-instan": 4_096,
}

// plainName returns a model's name as Anthropic writes it. Clouds and routers add a region, a vendor or a
// version, as in "eu.anthropic.claude-sonnet-4-5-20250929-v1:0".
func plainName(name string) string {
	if at := strings.LastIndex(name, "claude-"); at >= 0 {
		return name[at:]
	}
	return name
}

// knownWindow returns the context window of a well-known model, or zero if it is unknown.
func knownWindow(name string) int {
	if strings.HasPrefix(plainName(name), "claude-") {
		return usualWindow
	}
	return 0
}

// knownOutput returns the default bound of an answer.
func knownOutput(name string) int {
	name = plainName(name)
	best, most := 0, usualOutput
	for prefix, size := range outputs {
		if len(prefix) > best && strings.HasPrefix(name, prefix) {
			best, most = len(prefix), size
		}
	}
	return most
}

// LookupWindow returns 200,000 for the models of Anthropic, found by Config.Model or else by name. Larger
// windows have to be configured, because some accounts and older models do not have them. It returns zero if
// neither name is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(knownWindow(m.config.Model), knownWindow(name))
}
