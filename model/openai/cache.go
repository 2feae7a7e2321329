package openai

import (
	"slices"
	"strings"
)

// PromptCache says what a server is told of what will be asked again.
type PromptCache string

// The ways to tell.
const (
	// CacheNone tells nothing.
	CacheNone PromptCache = "none"
	// CacheKey sends prompt_cache_key, by which OpenAI keeps the requests of a thread
	// together.
	CacheKey PromptCache = "key"
	// CacheMarks puts a cache_control of the type "ephemeral" where prefixes end, which is
	// what Anthropic's models want. A message of a tool takes one too: a server that refuses
	// that needs another setting.
	CacheMarks PromptCache = "marks"
)

// maxMarks is how many marks there may be in a request.
const maxMarks = 4

// knownCache returns what is known to help with a model of a host.
func knownCache(host, model string) PromptCache {
	switch {
	case host == "api.openai.com":
		return CacheKey
	case host == "openrouter.ai" && (strings.HasPrefix(model, "anthropic/") || strings.HasPrefix(model, "google/gemini")):
		return CacheMarks
	default:
		return CacheNone
	}
}

// mark marks the last message before each place that takes a mark. Ends has where the
// messages of the request end among those of the wire.
func mark(out []wireMessage, ends, at []int) {
	left := maxMarks
	for _, place := range slices.Backward(at) { // the longest prefixes first
		if left == 0 || place < 0 || place >= len(ends) {
			continue
		}
		for n := ends[place] - 1; n >= 0; n-- {
			if marked, taken := markMessage(out[n]); taken {
				if marked {
					left--
				}
				break
			}
		}
	}
}

// markMessage marks a message's last text. It reports whether it did, and whether the
// message has a mark now.
func markMessage(m wireMessage) (marked, taken bool) {
	if m["role"] == "assistant" {
		return false, false // not every server takes parts from it
	}
	parts, ok := m["content"].([]map[string]any)
	if text, plain := m["content"].(string); plain {
		parts, ok = []map[string]any{{"type": "text", "text": text}}, text != ""
	}
	if !ok {
		return false, false
	}
	for _, part := range slices.Backward(parts) {
		if part["type"] != "text" || part["text"] == "" {
			continue
		}
		if part["cache_control"] != nil {
			return false, true
		}
		part["cache_control"] = map[string]any{"type": "ephemeral"}
		m["content"] = parts
		return true, true
	}
	return false, false
}
