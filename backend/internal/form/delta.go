package form

import (
	"encoding/json"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// DeltaColumns are the columns of [store.SnapshotDelta].
const DeltaColumns = "version, seq, at, body"

// ScanDelta reads DeltaColumns of a thread.
func ScanDelta(r Row, of spool.ThreadID) store.SnapshotDelta {
	d := store.SnapshotDelta{Version: r.Int64(), Seq: r.Int64(), At: r.Time()}
	if err := d.UnmarshalStored(r.Borrowed(), of); err != nil {
		r.Fail(spool.Wrap(spool.Internal, "a delta cannot be read", err))
	}
	return d
}

// CompleteDelta sets what a store sets of a delta, and returns its body. The thread is that after the entries of the
// same commit.
func CompleteDelta(d *store.SnapshotDelta, version int64, of wire.Thread, at time.Time) (json.RawMessage, error) {
	body, err := d.MarshalStored()
	if err != nil {
		return nil, spool.Wrap(spool.Invalid, "the delta cannot be encoded", err)
	}
	d.Version, d.Seq, d.At = version, of.LastSeq, at
	return body, nil
}

// DeltaConditions returns the conditions of a query for deltas of a thread.
func DeltaConditions(key spool.ThreadKey, q store.DeltaQuery) Conditions {
	c := ofThread(key)
	if q.After > 0 {
		c.And("version > ?", q.After)
	}
	return c
}
