package postgres

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
			coalesce((SELECT m.content FROM spool.message m
				WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id
					AND m.role = 'user' AND m.agent_id = '' ORDER BY m.ord LIMIT 1), '""'),
			(SELECT count(*) FROM spool.message m WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id),
			coalesce((SELECT m.dropped FROM spool.message m
				WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.id = b.base), 0)
		FROM spool.branch b CROSS JOIN LATERAL (SELECT m.id FROM spool.message m
			WHERE m.tenant = b.tenant AND m.thread_id = b.thread_id AND m.dropped = b.id ORDER BY m.ord LIMIT 1) f
		WHERE b.tenant = ? AND b.thread_id = ? ORDER BY b.id DESC`,
		eachForm(&branches, form.ScanBranch), v.key.Tenant, v.key.ID)
	return branches, err
}

// dropMessages moves a message and all after it from the view to a new branch.
func (t *tx) dropMessages(d *store.Drop) {
	t.writeOne(errNoMessage, `INSERT INTO spool.branch (tenant, thread_id, id, base, run_id, created_at)
		SELECT f.tenant, f.thread_id, ?::bigint, coalesce((SELECT p.id FROM spool.message p
				WHERE p.tenant = f.tenant AND p.thread_id = f.thread_id AND p.dropped IS NULL AND p.ord < f.ord
				ORDER BY p.ord DESC LIMIT 1), ''),
			coalesce((SELECT e.run_id FROM spool.entry e
				WHERE e.tenant = f.tenant AND e.thread_id = f.thread_id AND e.seq = ?), ''), ?::bigint
		FROM spool.message f WHERE f.tenant = ? AND f.thread_id = ? AND f.dropped IS NULL AND f.id = ?`,
		d.Seq, d.Seq, t.now, t.key.Tenant, t.key.ID, d.From)
	t.write(`UPDATE spool.message SET dropped = ?
		WHERE tenant = ? AND thread_id = ? AND dropped IS NULL AND ord >=
			(SELECT ord FROM spool.message WHERE tenant = ? AND thread_id = ? AND id = ?)`,
		d.Seq, t.key.Tenant, t.key.ID, t.key.Tenant, t.key.ID, d.From)
}

// restoreBranch moves the messages of a branch back to the view. Every message after the base in the view was also
// added after the base. So in every branch, the order in which messages were added is the order of the view.
func (t *tx) restoreBranch(id wire.BranchID) error {
	var base, last spool.MessageID
	found := false
	err := t.query(`SELECT base, coalesce((SELECT id FROM spool.message
			WHERE tenant = ? AND thread_id = ? AND dropped IS NULL ORDER BY ord DESC LIMIT 1), '')
		FROM spool.branch WHERE tenant = ? AND thread_id = ? AND id = ?`, func(r *row) {
		base, last, found = spool.MessageID(r.Text()), spool.MessageID(r.Text()), true
	}, t.key.Tenant, t.key.ID, t.key.Tenant, t.key.ID, int64(id))
	switch {
	case err != nil:
		return err
	case !found:
		return errNoBranch
	case last != base:
		return store.ErrBranchBase
	}
	t.write("UPDATE spool.message SET dropped = NULL WHERE tenant = ? AND thread_id = ? AND dropped = ?",
		t.key.Tenant, t.key.ID, int64(id))
	t.write("DELETE FROM spool.branch WHERE tenant = ? AND thread_id = ? AND id = ?", t.key.Tenant, t.key.ID, int64(id))
	return nil
}
