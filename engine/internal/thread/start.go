package thread

import (
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// StartRequest is a validated start.
type StartRequest struct {
	// Run is the requested run. [Start] sets its thread, state and times.
	Run store.RunRow
	// Content is the user turn.
	Content         spool.Content
	ClientMessageID string
	// Title and Labels are for a thread that the start creates. The run's subject becomes the thread's
	// owner.
	Title  string
	Labels map[string]string
	// EditMessageID is the id of a user turn to replace, together with all later messages. Empty: none.
	EditMessageID spool.MessageID
	WhenBusy      spool.WhenBusy
	// MayNotStop forbids the start to stop runs of other subjects.
	MayNotStop bool
	// ReserveWorker asks for a worker that is ready to execute the run of a ticket. If it returns nil, no worker is
	// ready, and any worker may claim the ticket. It is called once the run has its thread, and again if the transaction
	// is repeated. Nil: there is no worker.
	ReserveWorker func(ticket wire.Job) *ClaimOnStart
}

// ClaimOnStart lets a start claim its run, in place of a transition of its own behind the commit. A run that has to
// wait, or that edits a turn, is not claimed.
type ClaimOnStart struct {
	// Revision is the revision of the agent for the run's first segment.
	Revision wire.RevisionID
}

// Started is the outcome of a start.
type Started struct {
	// Position is the run's position among the waiting runs, or zero if the run has the thread.
	Position int
	// Steers is the active run that a steer is for, or empty.
	Steers spool.RunID
	// Stopped is what has to follow if the start has stopped another run.
	Stopped Stopped
	// Audit has the entries for the audit log.
	Audit []*wire.AuditEntry
	// Claimed is the claimed run, or nil.
	Claimed *ClaimedRun
}

// ClaimedRun is a run that its start has claimed.
type ClaimedRun struct {
	Segment

	Job store.ClaimedJob
	// Sent is when the start was sent to the store. The lease lasts at least from then.
	Sent time.Time
	// Messages are the messages of the thread if the start has created it, and nil otherwise.
	Messages []spool.Message
}

// Start is the transition to QUEUED, or to RUNNING if it claims the run for a worker. It creates the thread if it
// does not exist. It returns a [RefusedError] if the thread's state does not allow the start. Its caller passes other
// errors of the transaction to [Refusal].
func Start(db store.Tx, key spool.ThreadKey, s StartRequest, rules Rules) (Started, error) {
	tx, err := Open(db, rules)
	created := false
	switch {
	case err == nil && tx.Thread.State.Active():
		out, err := joinQueue(tx, s)
		out.Audit = tx.Follow.Audit
		return out, err
	case record.Missing(err) && tx == nil:
		if s.EditMessageID != "" {
			return Started{}, Refuse(wire.ReasonNotFound, "Message not found")
		}
		tx = &Tx{Rules: rules, Store: db, Now: db.Now(), Thread: wire.Thread{
			Tenant: key.Tenant, ID: key.ID, State: wire.Idle, CreatedAt: db.Now(),
			Title: s.Title, Owner: s.Run.StartedBy, Labels: s.Labels,
		}}
		created = true
	case err != nil && !record.Missing(err):
		return Started{}, err
	}
	claimed, err := start(tx, s)
	if claimed != nil && !created {
		claimed.Messages = nil
	}
	return Started{Claimed: claimed}, err
}

// start gives the thread to the run. It returns the run with its only message if it has claimed it.
func start(tx *Tx, s StartRequest) (*ClaimedRun, error) {
	tx.Run = newRun(tx, s.Run)
	if err := tx.move(wire.Queued); err != nil {
		return nil, err
	}
	tx.ownThread()
	edits := s.EditMessageID != ""
	if edits {
		if err := tx.Write(store.Changes{Thread: &tx.Thread, NewRuns: []store.RunRow{tx.Run}}); err != nil {
			return nil, err
		}
		if err := edit(tx, s.EditMessageID); err != nil {
			return nil, err
		}
	}
	turn := tx.Message(spool.RoleUser, s.Content)
	turn.ClientMessageID = s.ClientMessageID
	c := store.Changes{Messages: []*spool.Message{turn}}
	claimed, err := dispatch(tx, s, &c)
	if err != nil {
		return nil, err
	}
	if !edits {
		c.Thread, c.NewRuns = &tx.Thread, []store.RunRow{tx.Run}
	}
	if err := tx.Write(c); err != nil || claimed == nil {
		return nil, err
	}
	claimed.Segment = Segment{Thread: tx.Thread, Run: tx.Run, Seq: c.Entries[0].Seq}
	claimed.Messages = []spool.Message{*turn}
	return claimed, nil
}

// dispatch adds the run's first ticket to the changes: for any worker, or with the claim of the one that takes
// the run.
func dispatch(tx *Tx, s StartRequest, c *store.Changes) (*ClaimedRun, error) {
	ticket := tx.ticket(wire.JobStart, 0)
	var onStart *ClaimOnStart
	if s.ReserveWorker != nil && s.EditMessageID == "" {
		onStart = s.ReserveWorker(ticket)
	}
	if onStart == nil {
		c.Jobs = []wire.Job{ticket}
		return nil, nil //nolint:nilnil // nil is: no worker has the run
	}
	ticket.DueAt = tx.Now
	claimed := &ClaimedRun{Job: store.ClaimedJob{Job: ticket, JobID: wire.NewJobID(), Lease: tx.Lease}}
	c.Claimed = []store.ClaimedJob{claimed.Job}
	tx.Run.Revision = onStart.Revision
	return claimed, beginSegment(tx, c)
}

// newRun returns the run of a start. The run gets the known prompt size of the thread's last run.
func newRun(tx *Tx, run store.RunRow) store.RunRow {
	run.Tenant, run.ThreadID = tx.Thread.Tenant, tx.Thread.ID
	run.State, run.EnqueuedAt, run.StartedAt = wire.Queued, tx.Now, tx.Now
	run.Context, run.Cleared = tx.Run.Context, tx.Run.Cleared
	run.Nonce = tx.Random.Nonce()
	return run
}

// Refusal returns the start's refusal for an error of a transaction that says that the store has a
// conflicting run. It returns any other error unchanged. A store may check for such runs as late as with
// the commit, so err must be what the store's Update has returned.
func Refusal(err error) error {
	switch {
	case errors.Is(err, store.ErrRunIDUsed):
		return Refuse(wire.ReasonRunIDUsed, store.ErrRunIDUsed.Message)
	case errors.Is(err, store.ErrActiveRun), errors.Is(err, store.ErrStartKeyUsed):
		return Refuse(wire.ReasonActiveRun, store.ErrActiveRun.Message)
	default:
		return err
	}
}
