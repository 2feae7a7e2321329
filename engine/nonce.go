package engine

import "crypto/rand"

// newNonce returns the private random text of a new run: see [spool.Run.Nonce].
func newNonce() string { return rand.Text() }
