package wire

// ParkState is the state of a park. It changes from ParkOpen only once, by a compare-and-set, unless the same call
// asks again.
type ParkState string

// The states of a park.
const (
	ParkOpen     ParkState = "open"
	ParkAnswered ParkState = "answered"
	// ParkExpired is a park that was not answered in time. A denial is an answer.
	ParkExpired ParkState = "expired"
	// ParkClosed is a park whose run was stopped or has failed.
	ParkClosed ParkState = "closed"
	// ParkPending is the wait of a call for its own tool: see [spool.Pending]. Nobody answers it. It ends as ParkDone or
	// ParkClosed, or becomes ParkOpen if the tool has a question.
	ParkPending ParkState = "pending"
	// ParkDone is the wait of a pending call that has its result.
	ParkDone ParkState = "done"
)

// The reasons for which the engine itself parks a run. A tool that parks gives its own reason.
const (
	// ParkApproval waits for a person to allow a call that has not run.
	ParkApproval = "approval"
	// ParkOutcomeUnknown waits for a person to tell the outcome of a call that was running when its worker
	// died.
	ParkOutcomeUnknown = "outcome_unknown"
	// ParkBudget waits for a person to raise a budget that is used up. It belongs to no
	// call.
	ParkBudget = "budget_reached"
	// ParkClientTool waits for the client to run one of its own tools: see [ClientTool]. The
	// payload of an approving answer is the result.
	ParkClientTool = "client_tool"
	// ParkToolPending waits for the tool itself: see [ParkPending].
	ParkToolPending = "pending"
)
