package projection

import "github.com/spoolhq/spool/wire"

// Question returns what a person reads when a run waits for an answer. A question about a budget has words only in the
// protocols that ask it.
func Question(p wire.InputRequired) string {
	switch p.Reason {
	case wire.ParkApproval:
		return "May " + p.ToolName + " run?"
	case wire.ParkOutcomeUnknown:
		return "It is not known what became of " + p.ToolName + ". May it run again?"
	default:
		return p.ToolName + " waits for an answer: " + p.Reason
	}
}
