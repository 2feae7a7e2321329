package spool

import (
	"errors"
	"slices"
)

// FallbackCause is why a run goes on with another model: see [Agent.Fallbacks].
type FallbackCause string

const (
	// FallbackDown is a provider that cannot be reached, has an error of its own, or breaks off its answer.
	FallbackDown FallbackCause = "down"
	// FallbackLimit is a provider that answers 429: too many requests, or a quota that is used up.
	FallbackLimit FallbackCause = "rate_limit"
	// FallbackRefused is a provider that refuses the request, such as with a bad key, for a model that it does not
	// have, or for a prompt that is too long for it, or a model that refuses to answer ([FinishFilter]).
	FallbackRefused FallbackCause = "refused"
)

// FallbackCauses returns all causes.
func FallbackCauses() []FallbackCause {
	return []FallbackCause{FallbackDown, FallbackLimit, FallbackRefused}
}

// Known reports whether c is one of the constants.
func (c FallbackCause) Known() bool { return slices.Contains(FallbackCauses(), c) }

// FallbackCauseOf returns what an error of a model is as a cause.
func FallbackCauseOf(err error) FallbackCause {
	e, ok := errors.AsType[*ModelError](err)
	switch {
	case ok && e.Status == 429:
		return FallbackLimit
	case ok && e.Permanent(), CodeOf(err) == Invalid:
		return FallbackRefused
	default:
		return FallbackDown
	}
}
