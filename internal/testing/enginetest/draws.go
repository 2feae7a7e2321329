package enginetest

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"sync"
)

// chance returns a number below n that depends only on the words.
func chance(n uint64, words ...any) uint64 {
	h := fnv.New64a()
	_, _ = fmt.Fprintln(h, words...)
	return h.Sum64() >> 7 % n
}

// draws are random numbers that depend only on a seed, the caller, and how often that caller has asked.
// So they do not depend on the order in which goroutines ask.
type draws struct {
	seed uint64

	mu    sync.Mutex
	asked map[string]int
}

func newDraws(seed uint64) *draws { return &draws{seed: seed, asked: make(map[string]int)} }

// n returns a number below n for a caller.
func (d *draws) n(n int, who ...any) int { return int(d.next(uint64(n), who...)) }

func (d *draws) next(n uint64, who ...any) uint64 {
	name := fmt.Sprintln(who...)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked[name]++
	return chance(n, d.seed, name, d.asked[name])
}

// reader returns random bytes for a caller.
func (d *draws) reader(who ...any) io.Reader { return &drawnBytes{d, fmt.Sprintln(who...)} }

type drawnBytes struct {
	draws *draws
	who   string
}

// Read fills all of b.
func (r *drawnBytes) Read(b []byte) (int, error) {
	for at := 0; at < len(b); at += 4 {
		var four [4]byte
		binary.BigEndian.PutUint32(four[:], uint32(r.draws.next(1<<32, r.who)))
		copy(b[at:], four[:])
	}
	return len(b), nil
}
