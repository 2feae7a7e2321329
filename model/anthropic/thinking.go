package anthropic

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// minBudget is the provider's lower bound of a budget for thinking.
const minBudget = 1024

// Mode says who decides how much a model thinks.
type Mode string

// The modes.
const (
	// ThinkingAdaptive lets the model decide.
	ThinkingAdaptive Mode = "adaptive"
	// ThinkingBudget is a bound in tokens, for models before the adaptive ones.
	ThinkingBudget Mode = "budget"
	// ThinkingOff forbids thinking.
	ThinkingOff Mode = "off"
)

// Display says what the provider shows of its thinking. The signature comes in any case.
type Display string

// The kinds of display.
const (
	// DisplaySummarized shows a summary.
	DisplaySummarized Display = "summarized"
	// DisplayOmitted shows nothing, and answers sooner.
	DisplayOmitted Display = "omitted"
)

// Thinking is the configuration of thinking. The zero value leaves it to the provider.
type Thinking struct {
	// Mode is [ThinkingAdaptive], [ThinkingBudget] or [ThinkingOff]. Empty: the provider's default for the
	// model.
	Mode Mode
	// Budget bounds the tokens of thinking, at least 1,024. It is required for [ThinkingBudget].
	//
	// A request whose answer is bounded to less than that and one token gets a smaller budget, and no
	// thinking if less than 1,024 tokens would be left. A request within a turn that began without thinking of
	// this model gets no thinking either, because the provider refuses it.
	Budget int
	// Display is for [ThinkingAdaptive] and [ThinkingBudget]. Empty: the provider's default for the model.
	Display Display
}

func (t Thinking) check(maxOutput int) error {
	switch t.Mode {
	case "", ThinkingOff, ThinkingAdaptive:
		if t.Budget != 0 {
			return spool.Errorf(spool.Invalid, "Thinking.Budget is only for the mode budget")
		}
	case ThinkingBudget:
		if t.Budget < minBudget {
			return spool.Errorf(spool.Invalid, "Thinking.Budget must be at least %d", minBudget)
		}
		if maxOutput > 0 && maxOutput <= t.Budget {
			return spool.Errorf(spool.Invalid, "MaxOutputTokens must be larger than Thinking.Budget")
		}
	default:
		return spool.Errorf(spool.Invalid, "Thinking.Mode must be adaptive, budget or off")
	}
	switch t.Display {
	case "":
	case DisplaySummarized, DisplayOmitted:
		if t.Mode == "" || t.Mode == ThinkingOff {
			return spool.Errorf(spool.Invalid, "Thinking.Display is only for the modes adaptive and budget")
		}
	default:
		return spool.Errorf(spool.Invalid, "Thinking.Display must be summarized or omitted")
	}
	return nil
}

// wireThinking is the thinking of a request. It also reads what Extra has.
//
//nolint:tagliatelle // the provider's words
type wireThinking struct {
	Type    string  `json:"type"`
	Budget  int     `json:"budget_tokens,omitempty"`
	Display Display `json:"display,omitempty"`
}

// on reports whether the model may think. Forced calls of tools and thinking exclude each other.
func (t *wireThinking) on() bool { return t != nil && t.Type != "disabled" }

var thinkingDisabled = &wireThinking{Type: "disabled"}

// thinking returns the thinking of a request with the given bound, or nil for the provider's default.
func (t Thinking) thinking(maxTokens int, messages []wireMessage) *wireThinking {
	switch t.Mode {
	case ThinkingAdaptive:
		return &wireThinking{Type: "adaptive", Display: t.Display}
	case ThinkingBudget:
		budget := min(t.Budget, maxTokens-1)
		if budget < minBudget || !turnBeganWithThinking(messages) {
			return thinkingDisabled
		}
		return &wireThinking{Type: "enabled", Budget: budget, Display: t.Display}
	case ThinkingOff:
		return thinkingDisabled
	default:
		return nil
	}
}

// turnBeganWithThinking reports whether the last turn, if it is not finished, began with thinking. A turn goes from a
// user's message to the next one. Results of tools do not end it.
func turnBeganWithThinking(messages []wireMessage) bool {
	var first *wireMessage
	for i := range messages {
		switch m := &messages[i]; {
		case m.Role == roleUser && !m.hasResults():
			first = nil
		case m.Role == roleAssistant && first == nil:
			first = m
		}
	}
	return first == nil || first.Content[0].isThinking()
}

// extraThinking returns the thinking that the extra fields of a request ask for, or else t.
func extraThinking(value any, t *wireThinking) *wireThinking {
	raw, err := json.Marshal(value)
	if err != nil {
		return t
	}
	var extra wireThinking
	if json.Unmarshal(raw, &extra) != nil || extra.Type == "" {
		return t
	}
	return &extra
}
