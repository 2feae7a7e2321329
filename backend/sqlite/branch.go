package sqlite

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Branches implements [store.View].
func (v *view) Branches() ([]wire.Branch, error) {
	branches := []wire.Branch{}
	err := v.query(`SELECT b.id, b.base, b.run_id, b.created_at, f.id,
			coalesce((SELECT m.content FROM message m INDEXED BY message_branch
				WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id
					AND m.role = 'user' AND m.agent_id = '' ORDER BY m.ord LIMIT 1), '""'),
			(SELECT count(*) FROM message m WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id),
			coalesce((SELECT m.dropped FROM message m
				WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.id = b.base), 0)
		FROM branch b JOIN message f ON f.tenant = b.tenant AND f.thread_id = b.thread_id AND f.ord =
			(SELECT min(m.ord) FROM message m WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id)
		WHERE b.tenant = ? AND b.thread_id = ? ORDER BY b.id DESC`,
		each(&branches, form.ScanBranch), v.key.Tenant, v.key.ID)
	return branches, err
}

// dropMessages moves a message and all after it from the view to a new branch.
func (t *tx) dropMessages(d store.Drop) error {
	n, err := t.change(`INSERT INTO branch (tenant, thread_id, id, base, run_id, created_at)
		SELECT f.tenant, f.thread_id, ?, coalesce((SELECT p.id FROM message p
				WHERE p.tenant = f.tenant AND p.thread_id = f.thread_id AND p.dropped IS NULL AND p.ord < f.ord
				ORDER BY p.ord DESC LIMIT 1), ''),
			coalesce((SELECT e.run_id FROM entry e
				WHERE e.tenant = f.tenant AND e.thread_id = f.thread_id AND e.seq = ?), ''), ?
		FROM message f WHERE f.tenant = ? AND f.thread_id = ? AND f.dropped IS NULL AND f.id = ?`,
		d.Seq, d.Seq, t.now, t.key.Tenant, t.key.ID, d.From)
	switch {
	case isUnique(err):
		return store.ErrBranchUsed
	case err != nil:
		return err
	case n == 0:
		return errNoMessage
	}
	return t.write(`UPDATE message SET dropped = ?
		WHERE tenant = ? AND thread_id = ? AND dropped IS NULL AND ord >=
			(SELECT ord FROM message WHERE tenant = ? AND thread_id = ? AND id = ?)`,
		d.Seq, t.key.Tenant, t.key.ID, t.key.Tenant, t.key.ID, d.From)
}

// restoreBranch moves the messages of a branch back to the end of the view. Every message after the base
// in the view was also added after the base. So in every branch, the order in which messages were added is
// the order of the view.
func (t *tx) restoreBranch(id wire.BranchID) error {
	var base, last spool.MessageID
	found := false
	err := t.query("SELECT base FROM branch WHERE tenant = ? AND thread_id = ? AND id = ?", func(r *row) error {
		base, found = spool.MessageID(r.Text()), true
		return nil
	}, t.key.Tenant, t.key.ID, int64(id))
	switch {
	case err != nil:
		return err
	case !found:
		return errNoBranch
	}
	err = t.query(`SELECT id FROM message WHERE tenant = ? AND thread_id = ? AND dropped IS NULL
		ORDER BY ord DESC LIMIT 1`, func(r *row) error {
		last = spool.MessageID(r.Text())
		return nil
	}, t.key.Tenant, t.key.ID)
	switch {
	case err != nil:
		return err
	case last != base:
		return store.ErrBranchBase
	}
	err = t.write("UPDATE message INDEXED BY message_branch SET dropped = NULL WHERE tenant = ? AND thread_id = ? AND dropped = ?",
		t.key.Tenant, t.key.ID, int64(id))
	if err != nil {
		return err
	}
	return t.write("DELETE FROM branch WHERE tenant = ? AND thread_id = ? AND id = ?", t.key.Tenant, t.key.ID, int64(id))
}

var errNoBranch = &spool.Error{Code: spool.NotFound, Message: "branch not found"}
