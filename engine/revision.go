package engine

import (
	"context"

	"github.com/spoolhq/spool/wire"
)

// Revisions lists the revisions of agents, in the order of the agents' names. The revision of an agent that was
// first used last comes first.
func (a *Admin) Revisions(ctx context.Context, q wire.RevisionQuery) ([]wire.RevisionSummary, error) {
	return a.revisions.List(ctx, q)
}

// Revision returns a revision of an agent, by its id or by the beginning of it, of at least 12 characters. It
// returns a [spool.NotFound] error if no worker has used it, and a [spool.Conflict] error if several ids have
// the beginning.
func (a *Admin) Revision(ctx context.Context, id wire.RevisionID) (wire.Revision, error) {
	return a.revisions.Find(ctx, id)
}
