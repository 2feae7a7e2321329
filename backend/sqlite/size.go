package sqlite

import "github.com/spoolhq/spool/backend/internal/form"

// sizeState is the state column of the tally row with a tenant's bytes.
const sizeState = "bytes"

// grow notes that the thread has grown by n bytes. The size is written with the thread's row.
func (t *tx) grow(n int) {
	t.row.bytes += int64(n)
	t.row.dirty = max(t.row.dirty, seqDirty)
}

// sum adds the thread's growth since the last sum to the tenant's sum, if the run has ended or the
// growth is large.
func (t *tx) sum() {
	r := &t.row
	growth := r.bytes - r.summed
	if form.SumsSize(growth, r.dirty == allDirty && !r.State.Active()) {
		r.summed = r.bytes
		t.addBytes(growth)
	}
}

func (t *tx) addBytes(n int64) {
	t.counts.add(count{tenant: t.key.Tenant, state: sizeState, n: n})
}
