package engine

import (
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

const (
	defaultContextCeiling = 265_000
	defaultOutputReserve  = 16_000
	defaultTrigger        = 0.8
	defaultTailShare      = 0.25
	// maxTailShare leaves a compaction something to gain.
	maxTailShare = 0.5
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

// room is how many tokens a prompt may have.
type room struct {
	// budget is the most, and at is where the history is compacted. at is zero where it never
	// is.
	budget, at int64
	// tail is the most that a compaction leaves as it was said.
	tail int64
	// reserve is what the answer has.
	reserve int64
}

// roomOf returns the room in the window of a model. Name is what the configuration calls
// it, maxOutput what an answer is bounded to, zero for the provider's default.
func (e *Engine) roomOf(name string, model spool.Model, maxOutput int) room {
	window := e.windowOf(name, model)
	reserve := e.config.ContextOutputReserve
	if maxOutput > 0 {
		reserve = maxOutput
	}
	reserve = min(reserve, window/4) // a small window is there for the prompt as well
	return e.roomWith(int64(window-reserve), int64(reserve))
}

func (e *Engine) roomWith(budget, reserve int64) room {
	r := room{budget: budget, reserve: reserve, tail: int64(float64(budget) * e.config.ContextTailShare)}
	if e.config.CompactionTrigger > 0 {
		r.at = int64(float64(budget) * e.config.CompactionTrigger)
	}
	return r
}

// windowOf returns the size of a model's window, which nobody may know, up to the ceiling.
func (e *Engine) windowOf(name string, model spool.Model) int {
	window := 0
	if m, ok := model.(spool.Windowed); ok {
		window = m.ContextWindow()
	}
	if window <= 0 {
		window = e.config.Windows[name]
	}
	if m, ok := model.(spool.Described); ok && window <= 0 {
		_, its := m.Describe()
		window = knownWindow(its)
	}
	if window <= 0 {
		window = knownWindow(name)
	}
	if window <= 0 {
		return e.config.ContextCeiling
	}
	return min(window, e.config.ContextCeiling)
}

// contextUsage says how full the window is with the thread's history. It reads what was said
// since the provider has counted last, and only where nothing was counted, or where what was
// counted is not there any more, all of it. Newest is the last row of the ledger.
func (e *Engine) contextUsage(v spool.View, thread spool.Thread, newest spool.UsageRow) (spool.ContextUsage, error) {
	if thread.RunID == "" {
		return spool.ContextUsage{}, nil
	}
	run, err := v.Run(thread.RunID)
	if err != nil {
		return spool.ContextUsage{}, err
	}
	maxOutput := 0
	if agent, err := e.registry.ByName(run.Agent); err == nil {
		maxOutput = agent.MaxOutputTokens
	}
	to := e.roomOf(run.Model, e.config.Models[run.Model], maxOutput)
	u := spool.ContextUsage{BudgetTokens: to.budget, CompactAtTokens: to.at, UsedTokens: newest.Usage.Count().TotalTokens}
	var main spool.AgentID
	q := spool.MessageQuery{Agent: &main}
	counted := run.Context
	if counted != nil {
		switch _, err := v.Message(counted.LastMessageID); {
		case record.Missing(err):
			counted = nil
		case err != nil:
			return u, err
		default:
			q.After = counted.LastMessageID
		}
	}
	since, err := v.Messages(q)
	if err != nil || counted == nil {
		u.Messages = len(since)
		return u, err
	}
	u.Messages = counted.Messages + len(since)
	u.UsedTokens = counted.Tokens + counted.Answer
	m := newMeter(counted)
	for i, msg := range since {
		if i == 0 && msg.Role == spool.RoleAssistant && counted.Answer > 0 {
			continue // the answer that was counted
		}
		u.UsedTokens += m.part(weighMessage(msg))
	}
	return u, nil
}
