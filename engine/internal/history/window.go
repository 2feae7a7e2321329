package history

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
)

// Limits bound a prompt, in tokens.
type Limits struct {
	// Budget bounds the prompt. The history is compacted when the prompt reaches At, or never if At is
	// zero.
	Budget, At int64
	// Tail bounds the part that a compaction leaves verbatim.
	Tail int64
	// AnswerTokens is the part of the window for the answer.
	AnswerTokens int64
}

// Context has the settings for the size of prompts.
type Context option.Context

// LimitsOf returns the limits for a model's window. Name is the model's name in the configuration.
// MaxOutput bounds an answer, or is zero for the provider's default.
func (c Context) LimitsOf(name string, model spool.Model, maxOutput int) Limits {
	window := c.windowOf(name, model)
	answer := c.OutputReserve
	if maxOutput > 0 {
		answer = maxOutput
	}
	answer = min(answer, window/4) // a small window leaves room for the prompt
	return c.LimitsWith(int64(window-answer), int64(answer))
}

func (c Context) LimitsWith(budget, answer int64) Limits {
	r := Limits{Budget: budget, AnswerTokens: answer, Tail: int64(float64(budget) * c.TailShare)}
	if c.CompactionTrigger > 0 {
		r.At = int64(float64(budget) * c.CompactionTrigger)
	}
	return r
}

// windowOf returns the size of a model's window up to the ceiling, or the ceiling if the size is
// unknown.
func (c Context) windowOf(name string, model spool.Model) int {
	window := spool.InfoOf(model).Window(name, c.Windows[name])
	if window == 0 {
		return c.Ceiling
	}
	return min(window, c.Ceiling)
}
