package postgres

import "hash/fnv"

// lockNumber returns the number of an advisory lock. The numbers must stay the same in all versions, because
// processes of several versions share a database. Different names may have the same number with a probability
// of 2^-64, and then only wait for each other.
func lockNumber(kind string, names ...string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("spool\x00" + kind))
	for _, name := range names {
		_, _ = h.Write([]byte("\x00" + name))
	}
	return int64(h.Sum64()) //nolint:gosec // it has the same bits
}

// shards is how many rows of the tally a tenant has.
const shards = 16

// shardOf returns the row of the tally that a thread changes.
func shardOf(thread string) int64 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(thread))
	return int64(h.Sum32() % shards)
}
