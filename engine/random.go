package engine

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"time"

	"github.com/spoolhq/spool"
)

// random is where an engine's ids, nonces and spread waits come from: [Config.Random]. The
// zero value reads crypto/rand.
type random struct{ from io.Reader }

// id returns a fresh id with a prefix.
func (r random) id(prefix string) string {
	if r.from == nil {
		return spool.NewID(prefix)
	}
	return spool.NewIDFrom(r.from, prefix)
}

// nonce returns the private random text of a new run: see [spool.Run.Nonce].
func (r random) nonce() string {
	if r.from == nil {
		return rand.Text()
	}
	return spool.NewIDFrom(r.from, "nonce")
}

// upTo returns a random duration from zero to most.
func (r random) upTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	var b [8]byte
	if r.from == nil {
		_, _ = rand.Read(b[:])
	} else {
		_, _ = io.ReadFull(r.from, b[:])
	}
	return time.Duration(binary.BigEndian.Uint64(b[:]) % (uint64(most) + 1)) //nolint:gosec // it is no more than most
}

// random returns where the engine's ids come from.
func (e *Engine) random() random { return random{e.config.Random} }
