package history

import (
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
)

// windows are the sizes of well-known windows, by what their providers call the models. A
// name stands for all that begin with it, of which the longest wins, behind a vendor that a
// router puts in front.
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

// knownWindow returns the window of a model of that name. Zero: not known.
func knownWindow(name string) int {
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

// Room is how many tokens a prompt may have.
type Room struct {
	// Budget is the most, and at is where the history is compacted. at is zero where it never
	// is.
	Budget, At int64
	// Tail is the most that a compaction leaves word for word.
	Tail int64
	// Reserve is what the answer has.
	Reserve int64
}

// Context says how large prompts may get.
type Context config.ContextOptions

// RoomOf returns the room in the window of a model. Name is what the configuration calls
// it, maxOutput what an answer is bounded to, zero for the provider's default.
func (c Context) RoomOf(name string, model spool.Model, maxOutput int) Room {
	window := c.windowOf(name, model)
	reserve := c.OutputReserve
	if maxOutput > 0 {
		reserve = maxOutput
	}
	reserve = min(reserve, window/4) // a small window is there for the prompt as well
	return c.RoomWith(int64(window-reserve), int64(reserve))
}

func (c Context) RoomWith(budget, reserve int64) Room {
	r := Room{Budget: budget, Reserve: reserve, Tail: int64(float64(budget) * c.TailShare)}
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
	if m, ok := model.(spool.Described); ok && window <= 0 {
		_, its := m.Describe()
		window = knownWindow(its)
	}
	if window <= 0 {
		window = knownWindow(name)
	}
	if window <= 0 {
		return c.Ceiling
	}
	return min(window, c.Ceiling)
}
