package spool

// Revisions says with which revision of its agent a run continues.
type Revisions string

// The values of Revisions.
const (
	// RevisionsFollow uses the agent that the worker's process has. So a run that waited for days continues
	// with the agent of today.
	RevisionsFollow Revisions = "follow"
	// RevisionsPin uses the revision of the run's first segment: its instructions, its model, its bounds, and
	// the descriptions and schemas of its tools. The functions of the tools are those of the process. The model
	// gets an error for a call of a tool that the process no longer has. Permissions are those of the process,
	// and a call that needs an approval in the revision or in the process needs one.
	RevisionsPin Revisions = "pin"
)

// Known reports whether r is one of the constants above.
func (r Revisions) Known() bool { return r == RevisionsFollow || r == RevisionsPin }
