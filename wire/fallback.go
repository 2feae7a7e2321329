package wire

import (
	"github.com/spoolhq/spool"
)

// ModelFallback is the payload of [EntryModelFallback].
type ModelFallback struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *spool.AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step that the other model is asked for, from 1.
	Step int    `doc:"The step that the other model is asked for, from 1." json:"step"`
	From string `doc:"The model that failed, by its configured name."      json:"from"`
	To   string `doc:"The model that is asked from now on."                json:"to"`
	// Cause is the class of the failure.
	Cause spool.FallbackCause `doc:"The class of the failure." enum:"down,rate_limit,refused" json:"cause"`
	// Error is the failure, as a client may read it.
	Error string `doc:"The failure." json:"error"`
}
