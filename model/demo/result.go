package demo

import (
	"encoding/json"
	"strings"

	"github.com/spoolhq/spool"
)

// maxShown bounds the repeated part of a tool result.
const maxShown = 500

// describeResults returns a sentence about the result of each tool call.
func describeResults(results []spool.Part) string {
	lines := make([]string, len(results))
	for i, r := range results {
		lines[i] = r.ToolName + " " + describeResult(r.Result) + "."
	}
	return strings.Join(lines, " ")
}

// describeResult describes a result. It recognises the results that the engine writes when no tool
// returned.
func describeResult(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if message, ok := strings.CutPrefix(text, "error:"); ok {
			return "failed: " + shorten(strings.TrimSpace(message))
		}
		return "answered: " + shorten(text)
	}

	var known struct {
		Denied    bool            `json:"denied"`
		Cancelled bool            `json:"cancelled"`
		Canceled  bool            `json:"canceled"`
		Reason    string          `json:"reason"`
		Outcome   string          `json:"outcome"`
		Error     json.RawMessage `json:"error"`
	}
	if json.Unmarshal(raw, &known) == nil {
		because := ""
		if known.Reason != "" {
			because = ": " + shorten(known.Reason)
		}
		switch {
		case known.Denied:
			return "was denied by a person" + because
		case known.Cancelled, known.Canceled:
			if known.Outcome == "unknown" {
				because += ", and may have had an effect"
			}
			return "was cancelled" + because
		case len(known.Error) > 0 && string(known.Error) != "null" && string(known.Error) != "false":
			return "failed: " + shorten(plain(known.Error))
		}
	}
	if len(raw) == 0 {
		raw = json.RawMessage("null")
	}
	return "answered: " + shorten(string(raw))
}

// plain returns the text of a JSON string, and any other JSON unchanged.
func plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "..."
}
