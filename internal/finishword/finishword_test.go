package finishword_test

import (
	"testing"

	"github.com/spoolhq/spool/internal/finishword"
)

// The words are those that servers were recorded to send.
func TestOf(t *testing.T) {
	t.Parallel()

	for class, words := range map[finishword.Class][]string{
		finishword.End:     {"stop", "STOP", "eos", "end_turn", "eos_token", "stop_sequence"},
		finishword.Calls:   {"tool_calls", "tool_call", "tool_use", "function_call"},
		finishword.Limit:   {"length", "max_tokens", "model_length", "model_context_window_exceeded", "MAX_TOKENS"},
		finishword.Filter:  {"content_filter", "sensitive", "SAFETY", "MODEL_ARMOR", "refusal"},
		finishword.Broken:  {"insufficient_system_resource", "network_error", "error", "abort"},
		finishword.Unknown: {"", "recitation", "pause_turn", "stop ", "stopped"},
	} {
		for _, word := range words {
			if got := finishword.Of(word); got != class {
				t.Errorf("%q has the class %d, want %d", word, got, class)
			}
		}
	}
}
