package segment

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// claimed is the outcome of a claim, with the segment to execute or to settle.
type claimed struct {
	thread.Claimed

	segment *segment
	// job is the job that was taken with its run.
	job store.ClaimedJob
	// messages are the messages of the thread if the claim has read them all.
	messages []spool.Message
}

// ticketTimeout bounds how long the claim of a ticket waits for the transaction that is about to commit the ticket.
const ticketTimeout = time.Second

// mostMessages is how many messages a claim reads at the most, so that the segment does not read them.
const mostMessages = 16

// beginJob claims the run of a job for this worker, and returns its segment. Unclaimed says that nobody has claimed the
// job: it is taken with its run, if that is queued. A worker that has claimed the job meanwhile is fenced by that.
func (r *Runner) beginJob(ctx context.Context, j wire.Job, unclaimed bool) (c claimed, err error) {
	isolation := &isolationClaim{slot: &r.isolationSlot}
	defer func() {
		if c.Segment == nil {
			isolation.release()
		}
	}()
	var follow thread.Follow
	request := thread.ClaimRequest{Job: j, Isolate: isolation.acquire, CheckAgent: func(agent string) error {
		_, err := r.Registry.ByName(agent)
		return err
	}}
	if unclaimed {
		c.job = store.ClaimedJob{Job: j, JobID: wire.NewJobID(), Lease: r.Rules.Lease}
		request.Take = store.Changes{CancelJobs: []string{j.Key}, Claimed: []store.ClaimedJob{c.job}}
	}
	var unkept *registry.Agent
	request.Revision = func(run store.RunRow) (wire.RevisionID, error) {
		id, agent := r.Registry.RevisionOf(run)
		if unkept = nil; agent != nil && agent.Revision == id && !r.Revisions.Kept(id) {
			unkept = agent
			return "", errUnkept
		}
		return id, nil
	}
	claim := func(db store.Tx) (err error) {
		if c.messages = nil; unclaimed { // before all else, so that they come with the first answer of the store
			if c.messages, err = queuedMessages(db); err != nil {
				return err
			}
		}
		c.Claimed, follow, err = thread.ClaimRun(db, request, r.Rules)
		if err == nil && c.Decided {
			follow, err = thread.FinishDecided(db, r.Rules)
		}
		return err
	}
	waiting, cancel := ctx, context.CancelFunc(func() {})
	if unclaimed {
		waiting, cancel = context.WithTimeout(ctx, ticketTimeout)
	}
	defer cancel()
	sent := time.Now()
	err = r.Store.Update(waiting, j.Thread(), 0, claim)
	if errors.Is(err, errUnkept) { // the first run of this process with its agent
		if err = r.Revisions.Keep(ctx, unkept.Content); err == nil {
			sent = time.Now()
			err = r.Store.Update(ctx, j.Thread(), 0, claim)
		}
	}
	switch {
	case errors.Is(err, thread.ErrUnchanged), unclaimed && spool.CodeOf(err) == spool.Canceled && ctx.Err() == nil:
		return c, nil
	case err != nil:
		return claimed{}, err
	}
	switch {
	case c.Segment != nil && !follow.Jobs: // the segment announces itself
	case c.BusyFor == 0:
		r.Announce(j.Thread(), follow.Jobs)
	}
	switch {
	case c.Segment != nil:
		c.segment = r.begin(ctx, c.Segment, sent)
		c.segment.isolation = isolation
	case c.Unsettled != nil:
		c.segment = r.unsettled(c.Unsettled)
	}
	return c, nil
}

// queuedMessages returns the main agent's messages of a thread whose run is queued, or nil if they are many. It returns
// [thread.ErrUnchanged] if no run is queued.
func queuedMessages(db store.Tx) ([]spool.Message, error) {
	messages, err := db.Messages(store.MessageQuery{Agent: &record.MainAgent, Limit: mostMessages + 1})
	if err != nil {
		return nil, err
	}
	if len(messages) > mostMessages {
		messages = nil
	}
	switch row, err := db.Thread(); {
	case record.Missing(err):
		return nil, thread.ErrUnchanged
	case err == nil && row.State != wire.Queued:
		return nil, thread.ErrUnchanged
	default:
		return messages, err
	}
}

// begin returns the segment of a run that was claimed by a request sent at the given time.
func (r *Runner) begin(ctx context.Context, claimed *thread.Segment, sent time.Time) *segment {
	agent, err := r.agentOf(ctx, claimed.Run)
	s := r.newSegment(claimed.Thread, claimed.Run, claimed.Seq, agent.Permitted(claimed.Run), sent)
	s.configured, s.noAgent = agent, err
	return s
}

// ClaimOnStart returns how the start of a run claims it for this process, or nil if the store may not have the
// revision of the run's agent yet.
func (r *Runner) ClaimOnStart(agent string) *thread.ClaimOnStart {
	id, known := r.Registry.RevisionOf(store.RunRow{Run: wire.Run{Agent: agent}})
	if known == nil || !r.Revisions.Kept(id) {
		return nil
	}
	return &thread.ClaimOnStart{Revision: id}
}

// Settle ends a run whose ending is already decided.
func (r *Runner) Settle(ctx context.Context, u *thread.Unsettled) error {
	return r.unsettled(u).Settle(ctx)
}

// unsettled returns the segment of a run that has to be settled.
func (r *Runner) unsettled(u *thread.Unsettled) *segment {
	s := r.newSegment(u.Thread, u.Run, u.Thread.LastSeq, r.Registry.OfDispatched(u.Run), time.Now())
	s.Writer.Inherit(u.Saved)
	return s
}

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
		return present, active.FromStore(err)
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
