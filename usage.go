package spool

// TokenCount counts tokens. InputTokens includes cached tokens.
type TokenCount struct {
	InputTokens       int64 `json:"inputTokens"`       // Tokens that models read, cached ones included.
	CachedInputTokens int64 `json:"cachedInputTokens"` // The part of them that came from a cache.
	OutputTokens      int64 `json:"outputTokens"`      // Tokens that models wrote.
	TotalTokens       int64 `json:"totalTokens"`       // Both.
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
	// Tokens of the prompt, including cached ones. Left out: not counted.
	Input *int64 `json:"inputTokens,omitempty" nullable:"false"`
	// CacheRead is the part of them that came from a cache. Left out: not counted.
	CacheRead *int64 `json:"cacheReadInputTokens,omitempty" nullable:"false"`
	// CacheWrite is the part of them that was written to a cache. Left out: not counted.
	CacheWrite *int64 `json:"cacheWriteInputTokens,omitempty" nullable:"false"`
	// Tokens that the model wrote, reasoning included. Left out: not counted.
	Output *int64 `json:"outputTokens,omitempty" nullable:"false"`
	// Reasoning is the part of them that was reasoning. Left out: not counted.
	Reasoning *int64 `json:"reasoningTokens,omitempty" nullable:"false"`
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
