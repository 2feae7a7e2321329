package spool

import (
	"crypto/rand"
	"encoding/binary"
)

// firstJobID is the smallest id that [NewJobID] returns. Greater ones fit into the numbers of
// JavaScript too, and none is an id of a store that has counted its jobs.
const firstJobID = 1 << 52

// NewJobID returns a random id for a job, with 16 digits. A store that counted its jobs would tell
// each tenant how many jobs the others have.
func NewJobID() int64 {
	var b [8]byte
	_, _ = rand.Read(b[:])
	return firstJobID + int64(binary.BigEndian.Uint64(b[:])%firstJobID)
}
