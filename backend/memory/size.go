package memory

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// rowSize is the approximate size of a row without its long texts.
const rowSize = 256

// bytes returns the approximate size that the thread would have on a disk.
func (d *threadData) bytes() int64 {
	if d.thread == nil {
		return 0
	}
	n := rowSize * (1 + len(d.runs) + len(d.added) + len(d.entries))
	for _, r := range d.runs {
		if r.Wait != nil {
			n += contentSize(r.Wait.Content)
		}
		n += len(r.HostState)
		if r.Client != nil {
			n += clientSize(*r.Client)
		}
	}
	for _, m := range d.added {
		n += contentSize(m.Content)
	}
	for _, e := range d.entries {
		n += len(e.Payload)
	}
	for _, c := range d.deltas {
		n += deltaSize(c)
	}
	return int64(n)
}

func deltaSize(c store.SnapshotDelta) int {
	text, err := c.MarshalStored()
	if err != nil { // as in contentSize
		return rowSize
	}
	return rowSize/2 + len(text)
}

func clientSize(c wire.ClientInput) int {
	text, err := json.Marshal(c)
	if err != nil { // as in contentSize
		return rowSize
	}
	return len(text)
}

func contentSize(c spool.Content) int {
	text, err := c.MarshalStored()
	if err != nil { // unknown, but not zero
		return rowSize
	}
	return len(text)
}
