package spool

// TransferTool is the tool by which a model hands its thread to another agent: see [Agent.Transfers].
const TransferTool = "transfer"

// Transfer is an agent that a run can hand its thread to.
type Transfer struct {
	// Description tells the model what the other agent is good for.
	Description string
	// History is what the other agent sees of the thread. Defaults to [TransferAll].
	History TransferHistory
}

// TransferHistory is what an agent sees of the thread that it takes over.
type TransferHistory string

const (
	// TransferAll shows all messages, as the agent before saw them.
	TransferAll TransferHistory = "all"
	// TransferBrief shows the user's turn and the brief that the model gives with its call, and nothing else of what
	// came before. The messages stay in the thread, and people see them.
	TransferBrief TransferHistory = "brief"
)

// Known reports whether h is one of the constants.
func (h TransferHistory) Known() bool { return h == TransferAll || h == TransferBrief }
