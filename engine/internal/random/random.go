// Package random returns ids and the random part of delays.
package random

import (
	"crypto/rand"
	"encoding/binary"
	"io"
	"time"

	"github.com/spoolhq/spool"
)

// Source makes ids, nonces and random delays. The zero value reads crypto/rand.
type Source struct {
	// From replaces crypto/rand. Nil: crypto/rand.
	From io.Reader
}

func (r Source) ID(prefix string) string {
	if r.From == nil {
		return spool.NewID(prefix)
	}
	return spool.NewIDFrom(r.From, prefix)
}

// Nonce returns the private random text of a new run: see [store.RunState.Nonce].
func (r Source) Nonce() string {
	if r.From == nil {
		return rand.Text()
	}
	return spool.NewIDFrom(r.From, "nonce")
}

// UpTo returns a random duration from zero to most.
func (r Source) UpTo(most time.Duration) time.Duration {
	if most <= 0 {
		return 0
	}
	var b [8]byte
	if r.From == nil {
		_, _ = rand.Read(b[:])
	} else {
		_, _ = io.ReadFull(r.From, b[:])
	}
	return time.Duration(binary.BigEndian.Uint64(b[:]) % (uint64(most) + 1)) //nolint:gosec // the result is bounded by most
}

// Float returns a random number in [0, 1).
func (r Source) Float() float64 {
	const parts = 1 << 53
	return float64(r.UpTo(parts-1)) / parts
}
