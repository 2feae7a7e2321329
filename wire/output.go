package wire

import (
	"github.com/spoolhq/spool"
)

// MaxOutputEvent bounds the value in the events about the end of a run, in bytes. A larger value is left out
// of them; [RunOutcome.Output] and [RunDetail.Output] have it.
const MaxOutputEvent = 64 << 10

// OutputRejected is the payload of [EntryOutputRejected].
type OutputRejected struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *spool.AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step of the answer, from 1.
	Step    int    `doc:"The step of the answer, from 1."         json:"step"`
	Problem string `doc:"How the answer differs from the schema." json:"problem"`
	// Repair is true if the model is asked once more. Otherwise the run fails.
	Repair bool `doc:"Whether the model is asked once more. Otherwise the run fails." json:"repair"`
}
