package postgres

import (
	"github.com/spoolhq/spool/backend/internal/form"
	"github.com/spoolhq/spool/store"
)

// Deltas implements [store.View].
func (v *view) Deltas(q store.DeltaQuery) ([]store.SnapshotDelta, error) {
	deltas := []store.SnapshotDelta{}
	where := form.DeltaConditions(v.key, q)
	err := v.query("SELECT "+form.DeltaColumns+" FROM spool.delta WHERE "+where.Text+" ORDER BY version LIMIT ?",
		eachForm(&deltas, func(r form.Row) store.SnapshotDelta { return form.ScanDelta(r, v.key.ID) }),
		append(where.Args, bound(q.Limit))...)
	return deltas, err
}

// addDelta adds a delta. Its number comes from a counter in the thread's row, as that of an entry: see addEntries.
func (t *tx) addDelta(d *store.SnapshotDelta) error {
	body, err := form.CompleteDelta(d, t.row.version+1, t.row.Thread, t.now)
	if err != nil {
		return err
	}
	t.write("INSERT INTO spool.delta (tenant, thread_id, "+form.DeltaColumns+") VALUES (?, ?, "+
		places(form.DeltaColumns)+")",
		t.key.Tenant, t.key.ID, d.Version, d.Seq, d.At, body)
	t.row.version = d.Version
	t.grow(form.DeltaSize + len(body))
	return nil
}
