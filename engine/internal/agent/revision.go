package agent

import (
	"context"
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/store"
)

// errUnkept rolls a claim back whose segment would name a revision that the store does not have yet.
var errUnkept = errors.New("the agent's revision is not stored")

// agentOf returns the agent of a claimed run's segment: the one of the run's revision, without the run's
// permissions. With an error it returns the process's agent, which must not execute the segment.
func (r *Runner) agentOf(ctx context.Context, run store.RunRow) (*registry.Agent, error) {
	present := r.Registry.Configured(run)
	if present == nil || run.Revision == present.Revision {
		return present, nil
	}
	content, err := r.Revisions.Content(ctx, run.Revision)
	switch {
	case spool.CodeOf(err) == spool.NotFound, spool.CodeOf(err) == spool.Internal:
	case err != nil:
		return present, storeError{err}
	default:
		var pinned *registry.Agent
		if pinned, err = r.Registry.Pinned(run.Revision, content); err == nil {
			return pinned, nil
		}
	}
	return present, &spool.Error{
		Code: spool.Unavailable, Message: "the agent of revision " + string(run.Revision) + " cannot be used here", Err: err,
	}
}
