package admin

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// RevisionsInput asks for a page of the revisions of agents.
type RevisionsInput struct {
	// Only revisions of this agent.
	Agent string `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"agent"`
	Limit int    `default:"50"    maximum:"1000"               minimum:"1"   query:"limit"` // The size of a page.
	// Before is the field next of the page before.
	Before string `maxLength:"512" query:"before"`
}

// RevisionList is the answer to a list of revisions.
type RevisionList struct {
	// Revisions are the revisions by the agents' names, and of an agent the last one first.
	Revisions []wire.RevisionSummary `json:"revisions"`
	// Next is the value of before for the next page. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// Revisions answers with agents as workers have executed runs with them, by the agents' names, and of an agent the last
// one first. The parameter before gets the next page. A new revision begins when the content of an agent changes: its
// instructions, its model, its tools or its bounds. Only an operator may read revisions, because they belong to no
// tenant.
func (c Controller) Revisions(ctx context.Context, in RevisionsInput) (RevisionList, error) {
	if err := operatorOnly(ctx); err != nil {
		return RevisionList{}, err
	}
	list, err := c.Engine.Revisions(ctx, wire.RevisionQuery{Agent: in.Agent, After: in.Before, Limit: in.Limit})
	if err != nil {
		return RevisionList{}, err
	}
	out := RevisionList{Revisions: list}
	if len(list) == in.Limit {
		out.Next = list[len(list)-1].Mark
	}
	return out, nil
}

// OneRevisionInput asks for one revision.
type OneRevisionInput struct {
	// Revision is the revision's id, or its beginning of 12 or more characters.
	Revision wire.RevisionID `example:"rev_6f1d0c" path:"revision"`
}

// Revision answers with one revision of an agent. The payload of RUN_STARTED, getRun and the audit log's entry of an
// answer have its id. It has no secrets: they are hidden. Revisions never change, and are never deleted.
func (c Controller) Revision(ctx context.Context, in OneRevisionInput) (wire.Revision, error) {
	if err := operatorOnly(ctx); err != nil {
		return wire.Revision{}, err
	}
	return c.Engine.Revision(ctx, in.Revision)
}

// operatorOnly returns an error unless the caller may see what belongs to no tenant.
func operatorOnly(ctx context.Context) error {
	if !call.By(ctx).Operator && !call.Open(ctx) {
		return spool.Errorf(spool.Forbidden, "only an operator may list what belongs to no tenant")
	}
	return nil
}
