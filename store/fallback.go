package store

import (
	"cmp"
)

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

// ModelInUse returns the configured name of the model that the run asks: its own, or one of [spool.Agent.Fallbacks].
func (r RunRow) ModelInUse() string {
	if r.Fallback == nil {
		return r.Model
	}
	return cmp.Or(r.Fallback.Model, r.Model)
}
