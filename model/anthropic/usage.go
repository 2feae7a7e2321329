package anthropic

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/lenient"
)

// counts are numbers of tokens.
//
//nolint:tagliatelle // the provider's words
type counts struct {
	InputTokens  lenient.Count `json:"input_tokens"`
	CacheRead    lenient.Count `json:"cache_read_input_tokens"`
	CacheWrite   lenient.Count `json:"cache_creation_input_tokens"`
	OutputTokens lenient.Count `json:"output_tokens"`
}

func (c *counts) all() []*lenient.Count {
	return []*lenient.Count{&c.InputTokens, &c.CacheRead, &c.CacheWrite, &c.OutputTokens}
}

//nolint:tagliatelle // the provider's words
type usage struct {
	counts

	// Iterations are the parts of the answer that were paid for, with those that the counts leave out.
	Iterations         []iteration `json:"iterations"`
	OutputTokenDetails *struct {
		ThinkingTokens lenient.Count `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// iteration is one run of a model within an answer. Its type is "message", or that of one whose tokens the counts of
// the usage leave out, such as "compaction".
type iteration struct {
	Type string `json:"type"`

	counts
}

// add replaces the counts that a later report has. The provider reports sums, not differences.
func (u *usage) add(later *usage) {
	mine := u.all()
	for i, c := range later.all() {
		if c.N != nil {
			*mine[i] = *c
		}
	}
	if len(later.Iterations) > 0 {
		u.Iterations = later.Iterations
	}
	if later.OutputTokenDetails != nil && later.OutputTokenDetails.ThinkingTokens.N != nil {
		u.OutputTokenDetails = later.OutputTokenDetails
	}
}

// total returns the counts with the iterations that they leave out. The provider's counts are the sums of the messages
// among the iterations. A server whose counts are the sums of all iterations is not counted twice.
func (u *usage) total() counts {
	total, sums, messages := u.counts, new(counts), false
	for _, each := range u.Iterations {
		messages = messages || each.Type == "message"
		for i, c := range each.all() {
			add(sums.all()[i], c)
		}
	}
	for i, c := range total.all() {
		sum := sums.all()[i]
		if !messages {
			add(sum, c)
		}
		if c.N == nil || sum.N != nil && *sum.N > *c.N {
			*c = *sum
		}
	}
	return total
}

// add adds a count to a sum. Neither is changed if there is nothing to add.
func add(sum, c *lenient.Count) {
	if c.N == nil {
		return
	}
	n := *c.N
	if sum.N != nil {
		n += *sum.N
	}
	sum.N = &n
}

// usage returns the counts. Counts that were not reported are nil. The provider's count of the input has only
// the tokens that no cache was involved with, so the others are added.
func (u *usage) usage() spool.Usage {
	total := u.total()
	out := spool.Usage{CacheRead: total.CacheRead.N, CacheWrite: total.CacheWrite.N, Output: total.OutputTokens.N}
	if input := total.InputTokens; input.N != nil {
		add(&input, &total.CacheRead)
		add(&input, &total.CacheWrite)
		out.Input = input.N
	}
	if u.OutputTokenDetails != nil {
		out.Reasoning = u.OutputTokenDetails.ThinkingTokens.N
	}
	return out
}
