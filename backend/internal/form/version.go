package form

import "math/rand/v2"

// NewVersion returns the version of a new row outside threads: a random number, so that a row that was removed and
// created again has a version that it never had.
func NewVersion() int64 {
	return rand.Int64N(1<<53) + 1 //nolint:gosec // it is no secret
}
