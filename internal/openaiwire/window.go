package openaiwire

import "strings"

// windows maps prefixes of well-known models' names to context windows. The longest prefix wins. A
// vendor and a slash before the name, which routers add, do not count.
var windows = map[string]int{
	"gpt-3.5-turbo":     16_385,
	"gpt-4-":            128_000,
	"gpt-4o":            128_000,
	"gpt-4.1":           1_047_576,
	"gpt-5":             400_000,
	"o1":                200_000,
	"o3":                200_000,
	"o4-mini":           200_000,
	"claude-":           200_000,
	"gemini-1.5-pro":    2_097_152,
	"gemini-1.5-flash":  1_048_576,
	"gemini-2":          1_048_576,
	"gemini-3":          1_048_576,
	"deepseek-chat":     128_000,
	"deepseek-reasoner": 128_000,
	"grok-3":            131_072,
	"grok-4":            256_000,
	"mistral-large":     128_000,
}

// KnownWindow returns the context window of a well-known model, or zero if it is unknown.
func KnownWindow(name string) int {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	best, window := 0, 0
	for prefix, size := range windows {
		if len(prefix) > best && strings.HasPrefix(name, prefix) {
			best, window = len(prefix), size
		}
	}
	return window
}
