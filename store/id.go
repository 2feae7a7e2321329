package store

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// StreamKey names a run stream across tenants and threads. A stream is only ever
// found under the thread that it belongs to. It is comparable.
type StreamKey struct {
	Thread spool.ThreadKey
	ID     wire.StreamID
}
