package sqlite

import "github.com/spoolhq/spool"

const entryColumns = `seq, type, run_id, payload, created_at, stream, after_fence, after_n, published_by, published_by_tool`

// Entries implements [spool.View]. Runs and types have indexes that end in seq, so that
// the newest of a kind is found without reading the others. The statements name them, as the
// planner does not know how long a record gets, and would walk the primary key.
func (v *view) Entries(q spool.EntryQuery) ([]spool.Entry, error) {
	query := "SELECT " + entryColumns + " FROM entry"
	switch {
	case q.Run != "":
		query += " INDEXED BY entry_run"
	case q.Type != "":
		query += " INDEXED BY entry_type"
	}
	query += " WHERE tenant = ? AND thread_id = ?"
	args := []any{v.key.Tenant, v.key.ID}
	if q.After > 0 {
		query += " AND seq > ?"
		args = append(args, q.After)
	}
	if q.Run != "" {
		query += " AND run_id = ?"
		args = append(args, q.Run)
	}
	if q.Type != "" {
		query += " AND type = ?"
		args = append(args, string(q.Type))
	}
	query += " ORDER BY seq"
	if q.Last {
		query += " DESC"
	}
	query += " LIMIT ?"
	args = append(args, bound(q.Limit))

	entries := []spool.Entry{}
	err := v.query(query, func(r *row) error {
		if cap(entries) == 0 {
			entries = make([]spool.Entry, 0, firstEntries(q.Limit))
		}
		entries = append(entries, spool.Entry{
			ThreadID: v.key.ID, Seq: r.int64(), Type: spool.EntryType(r.text()), RunID: spool.RunID(r.text()),
			Payload: r.json(), CreatedAt: r.time(), Stream: spool.StreamID(r.text()),
			After:       spool.Offset{Fence: r.int64(), N: r.int64()},
			PublishedBy: r.text(), PublishedByTool: r.text(),
		})
		return nil
	}, args...)
	return entries, err
}

// firstEntries is for how many entries there is room before more room is made.
func firstEntries(limit int) int {
	if limit <= 0 {
		return 4
	}
	return min(limit, 4)
}

// AppendEntries implements [spool.Tx]. The numbers come from the thread's row. The raised
// counter is written with the row at the end: if the transaction fails it was never
// raised, and the numbers go to the next one.
func (t *tx) AppendEntries(entries ...*spool.Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := t.needThread(); err != nil {
		return err
	}
	for _, e := range entries {
		seq := t.row.LastSeq + 1
		err := t.write("INSERT INTO entry (tenant, thread_id, "+entryColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
			t.key.Tenant, t.key.ID, seq, string(e.Type), e.RunID, e.Payload, t.now,
			e.Stream, e.After.Fence, e.After.N, e.PublishedBy, e.PublishedByTool)
		if err != nil {
			return err
		}
		e.ThreadID, e.Seq, e.CreatedAt = t.key.ID, seq, t.now
		t.row.LastSeq = seq
		t.grow(entrySize + len(e.Payload))
	}
	return nil
}
