package spool

import (
	"cmp"
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

// ModelFallback is the payload of [EntryModelFallback].
type ModelFallback struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step that the other model is asked for, from 1.
	Step int    `doc:"The step that the other model is asked for, from 1." json:"step"`
	From string `doc:"The model that failed, by its configured name."      json:"from"`
	To   string `doc:"The model that is asked from now on."                json:"to"`
	// Cause is the class of the failure.
	Cause FallbackCause `doc:"The class of the failure." enum:"down,rate_limit,refused" json:"cause"`
	// Error is the failure, as a client may read it.
	Error string `doc:"The failure." json:"error"`
}

// RunFallback is the state of a run whose model has failed.
type RunFallback struct {
	// Model is the configured name of the model in use. Empty: the run's own.
	Model string `json:"model,omitempty"`
	// Attempts counts the failed attempts in a row of the model in use.
	Attempts int `json:"attempts,omitempty"`
	// Failed are the models that have failed since the last finished step, in order.
	Failed []ModelFailure `json:"failed,omitempty"`
}

// ModelFailure is a model that has failed in a run.
type ModelFailure struct {
	Model string `json:"model"`
	Error string `json:"error"`
	// Final is true if the same request to the model would fail again.
	Final bool `json:"final,omitempty"`
}

// ModelInUse returns the configured name of the model that the run asks: its own, or one of [Agent.Fallbacks].
func (r RunRow) ModelInUse() string {
	if r.Fallback == nil {
		return r.Model
	}
	return cmp.Or(r.Fallback.Model, r.Model)
}
