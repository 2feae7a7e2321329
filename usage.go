package spool

// TokenCount counts tokens. InputTokens includes cached tokens.
type TokenCount struct {
	InputTokens       int64 `doc:"Tokens that models read, cached ones included." json:"inputTokens"`
	CachedInputTokens int64 `doc:"The part of them that came from a cache."       json:"cachedInputTokens"`
	OutputTokens      int64 `doc:"Tokens that models wrote."                      json:"outputTokens"`
	TotalTokens       int64 `doc:"Both."                                          json:"totalTokens"`
}

// Add adds the counts of other.
func (c *TokenCount) Add(other TokenCount) {
	c.InputTokens += other.InputTokens
	c.CachedInputTokens += other.CachedInputTokens
	c.OutputTokens += other.OutputTokens
	c.TotalTokens += other.TotalTokens
}

// Usage is the usage of one model attempt, as its provider reported it. A nil count was not reported, which
// is not the same as zero.
type Usage struct {
	// Input counts the prompt, cached tokens included.
	Input *int64 `doc:"Tokens of the prompt, including cached ones. Left out: not counted." json:"inputTokens,omitempty" nullable:"false"`
	// CacheRead counts the prompt tokens that came from a cache.
	CacheRead *int64 `doc:"The part of them that came from a cache. Left out: not counted." json:"cacheReadInputTokens,omitempty" nullable:"false"`
	// CacheWrite counts the prompt tokens that were written to a cache.
	CacheWrite *int64 `doc:"The part of them that was written to a cache. Left out: not counted." json:"cacheWriteInputTokens,omitempty" nullable:"false"`
	// Output counts the tokens that the model wrote, including reasoning.
	Output *int64 `doc:"Tokens that the model wrote, reasoning included. Left out: not counted." json:"outputTokens,omitempty" nullable:"false"`
	// Reasoning counts the reasoning tokens among the output.
	Reasoning *int64 `doc:"The part of them that was reasoning. Left out: not counted." json:"reasoningTokens,omitempty" nullable:"false"`
}

// Count returns the usage as counts, with zero for a count that was not reported.
func (u Usage) Count() TokenCount {
	c := TokenCount{InputTokens: count(u.Input), CachedInputTokens: count(u.CacheRead), OutputTokens: count(u.Output)}
	c.TotalTokens = c.InputTokens + c.OutputTokens
	return c
}

func count(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// UsageKind is the purpose of a model call.
type UsageKind string

// The kinds of use.
const (
	// UsageStep is a step of an agent.
	UsageStep UsageKind = "step"
	// UsageCompaction is a summary of older messages.
	UsageCompaction UsageKind = "compaction"
	// UsageTool is a use by a tool.
	UsageTool UsageKind = "tool"
)
