package admin

import (
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// RevisionsInput asks for a page of the revisions of agents.
type RevisionsInput struct {
	Agent  string `doc:"Only revisions of this agent."      maxLength:"128"           pattern:"^[A-Za-z0-9._:-]+$" query:"agent"`
	Limit  int    `default:"50"                             doc:"The size of a page." maximum:"1000"               minimum:"1"   query:"limit"`
	Before string `doc:"The field next of the page before." maxLength:"512"           query:"before"`
}

// RevisionList is the answer to a list of revisions.
type RevisionList struct {
	Revisions []wire.RevisionSummary `doc:"The revisions by the agents' names, and of an agent the last one first." json:"revisions"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `doc:"The value of before for the next page. Left out: this is the last page." json:"next,omitempty"`
}

// Revisions answers GET /api/admin/revisions.
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
	Revision wire.RevisionID `doc:"The revision's id, or its beginning of 12 or more characters." example:"rev_6f1d0c" path:"revision"`
}

// Revision answers GET /api/admin/revisions/{revision}.
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
