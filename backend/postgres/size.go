package postgres

import "github.com/spoolhq/spool"

// The size of a row without its long texts. It includes the row's entries in indexes and its dependent rows (of
// waits, effects and the ledger).
const (
	threadSize  = 1 << 10
	runSize     = 1 << 10
	messageSize = 256
	entrySize   = 256
)

// sizeLag bounds how many bytes of a thread may be missing from its tenant's sum while a run is active. So neither
// the start of a run nor its steps have to write the sum.
const sizeLag = 16 << 10

// grow notes that the thread has grown by n bytes. The size is written with the thread's row.
func (t *tx) grow(n int) {
	t.row.bytes += int64(n)
	t.dirty = max(t.dirty, seqDirty)
}

// sum adds the thread's growth since the last sum to the tenant's sum, if the run has ended or the growth is
// large.
func (t *tx) sum() {
	r := &t.row
	lag := r.bytes - r.summed
	settled := t.dirty == allDirty && !r.State.Active()
	if lag == 0 || !settled && lag < sizeLag && lag > -sizeLag {
		return
	}
	r.summed = r.bytes
	t.counts.bytes += lag
}

// messageBytes returns the size of a message. The result of a call is stored twice, because its effect has it too.
func messageBytes(role spool.Role, content []byte) int {
	if role == spool.RoleTool {
		return messageSize + 2*len(content)
	}
	return messageSize + len(content)
}
