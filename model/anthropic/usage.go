package anthropic

import "github.com/spoolhq/spool"

//nolint:tagliatelle // the provider's words
type usage struct {
	InputTokens        *int64 `json:"input_tokens"`
	CacheRead          *int64 `json:"cache_read_input_tokens"`
	CacheWrite         *int64 `json:"cache_creation_input_tokens"`
	OutputTokens       *int64 `json:"output_tokens"`
	OutputTokenDetails *struct {
		ThinkingTokens *int64 `json:"thinking_tokens"`
	} `json:"output_tokens_details"`
}

// add replaces the counts that a later report has. The provider reports sums, not differences.
func (u *usage) add(later *usage) {
	for _, c := range [][2]**int64{
		{&u.InputTokens, &later.InputTokens},
		{&u.CacheRead, &later.CacheRead},
		{&u.CacheWrite, &later.CacheWrite},
		{&u.OutputTokens, &later.OutputTokens},
	} {
		if *c[1] != nil {
			*c[0] = *c[1]
		}
	}
	if later.OutputTokenDetails != nil && later.OutputTokenDetails.ThinkingTokens != nil {
		u.OutputTokenDetails = later.OutputTokenDetails
	}
}

// usage returns the counts. Counts that were not reported are nil. The provider's count of the input has only
// the tokens that no cache was involved with, so the others are added.
func (u *usage) usage() spool.Usage {
	out := spool.Usage{CacheRead: u.CacheRead, CacheWrite: u.CacheWrite, Output: u.OutputTokens}
	if u.InputTokens != nil {
		sum := *u.InputTokens
		for _, cached := range []*int64{u.CacheRead, u.CacheWrite} {
			if cached != nil {
				sum += *cached
			}
		}
		out.Input = &sum
	}
	if u.OutputTokenDetails != nil {
		out.Reasoning = u.OutputTokenDetails.ThinkingTokens
	}
	return out
}
