package lite

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// at returns the address as a pointer. The memory is not Go's: the garbage collector neither moves nor
// frees it.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// bytesAt returns n bytes of SQLite's memory. SQLite decides how long they are valid.
func bytesAt(p uintptr, n int) []byte { return unsafe.Slice((*byte)(at(p)), n) }

func put[T any](p uintptr, v T) { *(*T)(at(p)) = v }

func get[T any](p uintptr) T { return *(*T)(at(p)) }

// word is the size of a pointer.
const word = unsafe.Sizeof(uintptr(0))

const (
	sqlitePage = 4096 // SQLite's default
	// sizeBytes is the length of the number before each piece of memory. The number is the length of
	// the piece.
	sizeBytes = 8
	// smallest is the length from which pieces are in slots. Some shorter pieces are always in use, so
	// libc does not give back their memory.
	smallest = 1024
)

// slots has the memory for SQLite's cached pages, and for other pieces of similar length. A reader
// drops all its pages whenever another connection has written, and a commit that splits a page briefly
// needs a piece of two pages. libc gives unused memory back to the operating system at once, and has to
// ask for it again the next time. Slots are kept: their number is the largest number of pieces that
// were ever in use at once.
var slots struct {
	mu    sync.Mutex
	sizes [5]slotSize
}

// slotSize has the slots of one size.
type slotSize struct {
	n    int32   // the length of the longest piece that fits
	slab int     // how many slots are allocated at once
	all  int     // the number of allocated slots
	free uintptr // the address of the first free slot; each free slot has the address of the next
}

// useSlots makes SQLite take its memory from slots. It does nothing if another package of the program
// has already used SQLite.
var useSlots = sync.OnceFunc(func() {
	tls := libc.NewTLS()
	defer tls.Close()
	args := libc.NewVaListN(1)
	defer libc.Xfree(tls, args)
	methods := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(sqlite3.Tsqlite3_mem_methods{})))
	defer libc.Xfree(tls, methods)
	rc := sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_PCACHE_HDRSZ, libc.VaList(args, methods))
	header := get[int32](methods)
	if rc != sqlite3.SQLITE_OK {
		return
	}
	put(methods, sqlite3.Tsqlite3_mem_methods{
		FxMalloc: function(malloc), FxFree: function(free), FxRealloc: function(realloc), FxSize: function(size),
		FxRoundup: function(roundup), FxInit: function(begin), FxShutdown: function(end),
	})
	// Except for a page together with SQLite's data about it, libc allocates powers of two.
	slots.sizes = [...]slotSize{
		{n: 2048 - sizeBytes, slab: 1},
		{n: 4096 - sizeBytes, slab: 1},
		{n: roundup(tls, sqlitePage+header), slab: 64},
		{n: 8192 - sizeBytes, slab: 1},
		{n: 16384 - sizeBytes, slab: 1},
	}
	sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods))
})

// function returns a Go function in the form in which the translated SQLite calls it: the address of a
// closure. For a function declared at package level, this address never changes.
func function[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

// sizeOf returns the slot size for pieces of a length, or nil if such pieces are not in slots.
func sizeOf(n int32) *slotSize {
	if n < smallest {
		return nil
	}
	for i := range slots.sizes {
		if n <= slots.sizes[i].n {
			return &slots.sizes[i]
		}
	}
	return nil
}

func malloc(tls *libc.TLS, n int32) uintptr {
	var p uintptr
	if s := sizeOf(n); s != nil {
		p = s.allocate(tls)
	} else {
		p = libc.Xmalloc(tls, types.Size_t(n)+sizeBytes) //nolint:gosec // a length
	}
	if p == 0 {
		return 0
	}
	put(p, int64(n))
	return p + sizeBytes
}

func free(tls *libc.TLS, p uintptr) {
	s := sizeOf(size(tls, p))
	p -= sizeBytes
	if s == nil {
		libc.Xfree(tls, p)
		return
	}
	slots.mu.Lock()
	put(p, s.free)
	s.free = p
	slots.mu.Unlock()
}

// allocate returns a free slot. If no slot is free, it allocates a slab.
func (s *slotSize) allocate(tls *libc.TLS) uintptr {
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if s.free == 0 {
		each := uintptr(s.n) + sizeBytes                                   //nolint:gosec // a length
		slab := libc.Xmalloc(tls, types.Size_t(each)*types.Size_t(s.slab)) //nolint:gosec // a count
		if slab == 0 {
			return 0
		}
		s.all += s.slab
		for n := range uintptr(s.slab) {
			put(slab+n*each, s.free)
			s.free = slab + n*each
		}
	}
	p := s.free
	s.free = get[uintptr](p)
	return p
}

func realloc(tls *libc.TLS, p uintptr, n int32) uintptr {
	old := size(tls, p)
	from, to := sizeOf(old), sizeOf(n)
	switch {
	case from == nil && to == nil:
		p = libc.Xrealloc(tls, p-sizeBytes, types.Size_t(n)+sizeBytes) //nolint:gosec // a length
		if p == 0 {
			return 0
		}
		p += sizeBytes
	case from != to:
		moved := malloc(tls, n)
		if moved != 0 {
			copy(bytesAt(moved, int(n)), bytesAt(p, int(min(old, n))))
			free(tls, p)
		}
		return moved
	}
	put(p-sizeBytes, int64(n))
	return p
}

func size(_ *libc.TLS, p uintptr) int32 { return int32(get[int64](p - sizeBytes)) } //nolint:gosec // put stored it

func roundup(_ *libc.TLS, n int32) int32 { return (n + 7) &^ 7 }

func begin(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }

func end(*libc.TLS, uintptr) {}
