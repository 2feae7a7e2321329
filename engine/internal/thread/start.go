package thread

import (
	"errors"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// StartRequest is a validated start.
type StartRequest struct {
	// Run is the requested run. [Start] sets its thread, state and times.
	Run spool.RunRow
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
}

// Started is the outcome of a start.
type Started struct {
	// Position is the run's position among the waiting runs, or zero if the run has the thread.
	Position int
	// Stopped is what has to follow if the start has stopped another run.
	Stopped Stopped
	// Audit has the entries for the audit log.
	Audit []*spool.AuditEntry
}

// Start is the transition to QUEUED. It creates the thread if it does not exist. It returns a
// [RefusedError] if the thread's state does not allow the start. Its caller passes other errors of the
// transaction to [Refusal].
func Start(store spool.Tx, key spool.ThreadKey, s StartRequest, rules Rules) (Started, error) {
	tx, err := Open(store, rules)
	switch {
	case err == nil && tx.Thread.State.Active():
		out, err := joinQueue(tx, s)
		out.Audit = tx.Follow.Audit
		return out, err
	case record.Missing(err) && tx == nil:
		if s.EditMessageID != "" {
			return Started{}, Refuse(spool.ReasonNotFound, "Message not found")
		}
		tx = &Tx{Rules: rules, Store: store, Now: store.Now(), Thread: spool.Thread{
			Tenant: key.Tenant, ID: key.ID, State: spool.Idle, CreatedAt: store.Now(),
			Title: s.Title, Owner: s.Run.StartedBy, Labels: s.Labels,
		}}
	case err != nil && !record.Missing(err):
		return Started{}, err
	}
	return Started{}, start(tx, s)
}

func start(tx *Tx, s StartRequest) error {
	tx.Run = newRun(tx, s.Run)
	if err := tx.move(spool.Queued); err != nil {
		return err
	}
	tx.Thread.RunID, tx.Thread.Model = tx.Run.ID, tx.Run.Model
	c := spool.Changes{Thread: &tx.Thread, NewRuns: []spool.RunRow{tx.Run}}
	if s.EditMessageID != "" {
		if err := tx.Write(c); err != nil {
			return err
		}
		if err := edit(tx, s.EditMessageID); err != nil {
			return err
		}
		c = spool.Changes{}
	}
	turn := tx.Message(spool.RoleUser, s.Content)
	turn.ClientMessageID = s.ClientMessageID
	c.Messages, c.Jobs = []*spool.Message{turn}, []spool.Job{tx.ticket(spool.JobStart, 0)}
	return tx.Write(c)
}

// newRun returns the run of a start. The run gets the known prompt size of the thread's last run.
func newRun(tx *Tx, run spool.RunRow) spool.RunRow {
	run.Tenant, run.ThreadID = tx.Thread.Tenant, tx.Thread.ID
	run.State, run.EnqueuedAt, run.StartedAt = spool.Queued, tx.Now, tx.Now
	run.Context = tx.Run.Context
	run.Nonce = tx.Random.Nonce()
	return run
}

// Refusal returns the start's refusal for an error of a transaction that says that the store has a
// conflicting run. It returns any other error unchanged. A store may check for such runs as late as with
// the commit, so err must be what the store's Update has returned.
func Refusal(err error) error {
	switch {
	case errors.Is(err, spool.ErrRunIDUsed):
		return Refuse(spool.ReasonRunIDUsed, spool.ErrRunIDUsed.Message)
	case errors.Is(err, spool.ErrActiveRun), errors.Is(err, spool.ErrStartKeyUsed):
		return Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	default:
		return err
	}
}
