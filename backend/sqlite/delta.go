package sqlite

import (
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Deltas implements [store.View].
func (v *view) Deltas(q store.DeltaQuery) ([]store.SnapshotDelta, error) {
	where := form.DeltaConditions(v.key, q)
	deltas := []store.SnapshotDelta{}
	err := v.query("SELECT "+form.DeltaColumns+" FROM delta WHERE "+where.Text+" ORDER BY version LIMIT ?",
		each(&deltas, func(r form.Row) store.SnapshotDelta { return form.ScanDelta(r, v.key.ID) }),
		append(where.Args, bound(q.Limit))...)
	return deltas, err
}

// addDelta adds a delta. Its number comes from a counter in the thread's row, as that of an entry: see appendEntries.
func (t *tx) addDelta(d *store.SnapshotDelta) error {
	if err := t.needThread(); err != nil {
		return err
	}
	body, err := form.CompleteDelta(d, t.row.version+1, t.row.Thread, t.now)
	if err != nil {
		return err
	}
	err = t.write("INSERT INTO delta (tenant, thread_id, "+form.DeltaColumns+") VALUES (?, ?, ?, ?, ?, ?)",
		t.key.Tenant, t.key.ID, d.Version, d.Seq, d.At, body)
	if err != nil {
		return err
	}
	t.row.version = d.Version
	t.grow(form.DeltaSize + len(body))
	return nil
}
