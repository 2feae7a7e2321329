package wire

import (
	"github.com/spoolhq/spool"
)

// MaxOutputEvent bounds the value in the events about the end of a run, in bytes. A larger value is left out
// of them; [RunOutcome.Output] and [RunDetail.Output] have it.
const MaxOutputEvent = 64 << 10

// OutputRejected is the payload of [EntryOutputRejected].
type OutputRejected struct {
	// AgentID is the nested run. Left out: the run itself.
	AgentID *spool.AgentID `json:"agentId,omitempty" nullable:"false"`
	// Step is the step of the answer, from 1.
	Step    int    `json:"step"`
	Problem string `json:"problem"` // How the answer differs from the schema.
	// Repair is whether the model is asked once more. Otherwise the run fails.
	Repair bool `json:"repair"`
}
