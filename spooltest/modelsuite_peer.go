package spooltest

import "github.com/spoolhq/spool"

// ModelPeer is a model and the provider that answers it according to a scenario.
type ModelPeer struct {
	Model spool.Model
	// Other is a second model of the same adapter and provider, with another name. Only [ModelSigned] needs
	// it.
	Other spool.Model
	// Requests returns the bodies that the provider has received, in order. Nil for a model with
	// [ModelFeatures.Local].
	Requests func() []string
	// Gone is closed when the provider sees that the caller has gone away, in the scenarios in which it
	// waits for that. Nil for a model with [ModelFeatures.Local].
	Gone <-chan struct{}
}

// ModelFeatures says what a provider's interface can express. Tests that need a missing feature are
// skipped.
type ModelFeatures struct {
	// CachedUsage is true if the interface reports cached and reasoning tokens.
	CachedUsage bool
	// Files is true if a message may have files, such as a PDF, as data.
	Files bool
	// Images is true if a message may have images, by URL and as data.
	Images bool
	// Local is true for a model that makes up its answers, without a provider. It understands the prompts of
	// package model/demo. Its texts are not checked, and it need not fail.
	Local bool
	// Pause is true if an answer may end with [spool.FinishPause].
	Pause bool
	// ProviderParts is true if an answer may have parts that only the provider understands.
	ProviderParts bool
	// RetryAfterDate is true if the provider may name the time of the next attempt as a date.
	RetryAfterDate bool
	// SealedReasoning is true if an answer may have reasoning that only the provider can read.
	SealedReasoning bool
	// SignedCalls is true if tool calls may have data that the provider wants back.
	SignedCalls bool
	// SignedReasoning is true if reasoning has data that the provider wants back.
	SignedReasoning bool
	// SignedText is true if texts may have data that the provider wants back.
	SignedText bool
	// TextArguments is true if the arguments of a call are a text that may be no JSON.
	TextArguments bool
}
