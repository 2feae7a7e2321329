package openai

import "slices"

// PromptCache is a kind of hint for the server's prompt cache.
type PromptCache string

// The kinds of hints.
const (
	// CacheNone sends no hint.
	CacheNone PromptCache = "none"
	// CacheKey sends prompt_cache_key. OpenAI sends requests with the same key to the same cache.
	CacheKey PromptCache = "key"
	// CacheMarks puts a cache_control of the type "ephemeral" at the ends of prefixes, as Anthropic's
	// models need it. Messages of tools have marks too. A server that refuses such marks needs another
	// setting.
	CacheMarks PromptCache = "marks"
)

// maxMarks bounds the marks of a request.
const maxMarks = 4

// mark marks the end of each prefix, in the last message of the prefix that can have a mark. ends[n] is
// the number of wire messages for the instructions and the first n messages of the request.
func mark(out []wireMessage, ends, at []int) {
	left := maxMarks
	for _, place := range slices.Backward(at) { // the longest prefixes first
		if left == 0 || place < 0 || place >= len(ends) {
			continue
		}
		for n := ends[place] - 1; n >= 0; n-- {
			if marked, hasMark := markMessage(out[n]); hasMark {
				if marked {
					left--
				}
				break
			}
		}
	}
}

// markMessage marks the last text of a message. It reports whether it has added the mark, and whether
// the message now has one.
func markMessage(m wireMessage) (marked, hasMark bool) {
	if m["role"] == "assistant" {
		return false, false // some servers refuse parts in such a message
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
