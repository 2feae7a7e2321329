package postgres

import "github.com/spoolhq/spool/backend/internal/form"

// grow notes that the thread has grown by n bytes. The size is written with the thread's row.
func (t *tx) grow(n int) {
	t.row.bytes += int64(n)
	t.dirty = max(t.dirty, seqDirty)
}

// sum adds the thread's growth since the last sum to the tenant's sum, if the run has ended or the growth is
// large.
func (t *tx) sum() {
	r := &t.row
	growth := r.bytes - r.summed
	if form.SumsSize(growth, t.dirty == allDirty && !r.State.Active()) {
		r.summed = r.bytes
		t.counts.bytes += growth
	}
}
