package spool

import "time"

// ParkOrder is the order of a list of open parks.
type ParkOrder string

// The orders of a list of open parks.
const (
	// ParksByAge lists the park that was asked first, first. A park that is made later comes last.
	ParksByAge ParkOrder = "age"
	// ParksByExpiry lists the park that expires first, first.
	ParksByExpiry ParkOrder = "expiry"
)

// ParkQuery selects open parks of a tenant across its threads. A park must pass all fields.
type ParkQuery struct {
	// Tenant is the tenant of the parks. Required.
	Tenant Tenant
	// Order is the order of the list. Defaults to [ParksByAge].
	Order ParkOrder
	// ThreadID leaves out the parks of other threads. Empty: all.
	ThreadID ThreadID
	// Agent leaves out parks of other agents. It is the agent of the dispatched run, or of the nested run that made
	// the call. Empty: all.
	Agent string
	// Tool leaves out the calls of other tools. Empty: all.
	Tool string
	// Reason leaves out parks with another [Park.Reason]. Empty: all.
	Reason string
	// StartedBy leaves out parks whose dispatched run another subject started. Empty: all.
	StartedBy string
	// Owner leaves out parks in the threads of others. Empty: all.
	Owner string

	// Limit bounds how many are returned. Zero: all.
	Limit int
	// After continues a list: only parks whose time of the order is after this one, or equal to it and their
	// (RunID, ToolCallID) is greater than (AfterRun, AfterCall). The time is [Park.CreatedAt] or [Park.ExpiresAt].
	// Zero: from the first.
	After     time.Time
	AfterRun  RunID
	AfterCall ToolCallID
}

// ParkRow is an open park of a list, with what it belongs to.
type ParkRow struct {
	Park

	Thread Thread
	// Runs are the dispatched run, and below it the nested runs down to the run that made the call. Their RunState
	// is complete.
	Runs []RunRow
}

// Time returns the time that an order compares.
func (p Park) Time(order ParkOrder) time.Time {
	if order == ParksByExpiry {
		return p.ExpiresAt
	}
	return p.CreatedAt
}

// RunIDs returns the runs from the dispatched run down to the run that made the call.
func (p Park) RunIDs() []RunID {
	ids := []RunID{p.RunID}
	for i := len(p.Frames) - 1; i >= 0; i-- {
		if above := p.Frames[i].AgentID; above != nil {
			ids = append(ids, RunID(*above))
		}
	}
	if p.AgentID != "" {
		ids = append(ids, RunID(p.AgentID))
	}
	return ids
}
