package history

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
)

// Limits is how many tokens a prompt may have.
type Limits struct {
	// Budget is the most, and at is where the history is compacted. at is zero where it never
	// is.
	Budget, At int64
	// Tail is the most that a compaction leaves word for word.
	Tail int64
	// Reserve is what the answer has.
	AnswerTokens int64
}

// Context says how large prompts may get.
type Context config.ContextOptions

// LimitsOf returns the room in the window of a model. Name is what the configuration calls
// it, maxOutput what an answer is bounded to, zero for the provider's default.
func (c Context) LimitsOf(name string, model spool.Model, maxOutput int) Limits {
	window := c.windowOf(name, model)
	answer := c.OutputReserve
	if maxOutput > 0 {
		answer = maxOutput
	}
	answer = min(answer, window/4) // a small window is there for the prompt as well
	return c.LimitsWith(int64(window-answer), int64(answer))
}

func (c Context) LimitsWith(budget, answer int64) Limits {
	r := Limits{Budget: budget, AnswerTokens: answer, Tail: int64(float64(budget) * c.TailShare)}
	if c.CompactionTrigger > 0 {
		r.At = int64(float64(budget) * c.CompactionTrigger)
	}
	return r
}

// windowOf returns the size of a model's window up to the ceiling, and the ceiling where the size is
// not known.
func (c Context) windowOf(name string, model spool.Model) int {
	window := 0
	if m, ok := model.(spool.Windowed); ok {
		window = m.ContextWindow()
	}
	if window <= 0 {
		window = c.Windows[name]
	}
	if m, ok := model.(spool.WindowLookup); ok && window <= 0 {
		window = m.LookupWindow(name)
	}
	if window <= 0 {
		return c.Ceiling
	}
	return min(window, c.Ceiling)
}
