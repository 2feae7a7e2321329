package sqlite

import (
	"encoding/json"

	"github.com/spoolhq/spool"
)

// What a row takes besides its long texts, its places in the indexes and the rows that come with
// it (of waits, effects and the ledger) included. Migration 019 has the same numbers.
const (
	threadSize  = 1 << 10
	runSize     = 1 << 10
	messageSize = 256
	entrySize   = 256
)

// sizeLag is by how much the sum of a tenant may lag behind each thread that has a run. Neither the
// start of a run nor its steps then write the sum.
const sizeLag = 16 << 10

// sizeState is the state under which the tally has the bytes of a tenant.
const sizeState = "bytes"

// grow notes that the thread takes n bytes more. The row is written with the thread's.
func (t *tx) grow(n int) {
	t.row.bytes += int64(n)
	t.row.dirty = max(t.row.dirty, seqDirty)
}

// sum adds to the tenant's sum what the thread has grown by since, at the end of each run, and
// where that is much.
func (t *tx) sum() {
	r := &t.row
	lag := r.bytes - r.summed
	settled := r.dirty == allDirty && !r.State.Active()
	if lag == 0 || !settled && lag < sizeLag && lag > -sizeLag {
		return
	}
	r.summed = r.bytes
	t.addBytes(lag)
}

func (t *tx) addBytes(n int64) {
	t.counts.add(count{tenant: t.key.Tenant, state: sizeState, n: n})
}

// messageBytes is what a message takes. The result of a call is stored twice: its effect has it
// too.
func messageBytes(role spool.Role, content json.RawMessage) int {
	if role == spool.RoleTool {
		return messageSize + 2*len(content)
	}
	return messageSize + len(content)
}
