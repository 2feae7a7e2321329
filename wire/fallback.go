package wire

import (
	"github.com/spoolhq/spool"
)

// ModelFallback is the payload of [EntryModelFallback].
type ModelFallback struct {
	// AgentID is the nested run. Left out: the run itself.
	AgentID *spool.AgentID `json:"agentId,omitempty" nullable:"false"`
	// Step is the step that the other model is asked for, from 1.
	Step int    `json:"step"`
	From string `json:"from"` // The model that failed, by its configured name.
	To   string `json:"to"`   // The model that is asked from now on.
	// Cause is the class of the failure.
	Cause spool.FallbackCause `enum:"down,rate_limit,refused" json:"cause"`
	// Error is the failure.
	Error string `json:"error"`
}
