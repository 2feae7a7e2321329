package inprocess

import (
	"github.com/spoolhq/spool/store"
)

// Live is a [store.Live] within one process. It has run streams within a budget of bytes, and its wake-ups
// lose nothing and arrive once.
//
// When the streams exceed the budget, the stream that ended first is removed. If none has ended, the one that
// was opened first is removed, and its writer's next append fails. The id of a removed stream is forgotten and
// can be used again.
type Live struct {
	*streams
	*wakes
}

var _ store.Live = (*Live)(nil)

// NewLive returns a Live without streams and subscribers. Its streams use up to maxBytes. Zero stands for
// [DefaultMaxBytes].
func NewLive(maxBytes int64) *Live {
	return &Live{streams: newStreams(maxBytes), wakes: &wakes{}}
}
