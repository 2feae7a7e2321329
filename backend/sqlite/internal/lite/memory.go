package lite

import (
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	sqlite3 "modernc.org/sqlite/lib"
)

// at returns the address as a pointer. The memory behind it is not Go's: the collector neither
// moves nor frees it.
func at(p uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&p)) }

// bytesAt returns n bytes of SQLite's memory, which stay there only as long as SQLite says.
func bytesAt(p uintptr, n int) []byte { return unsafe.Slice((*byte)(at(p)), n) }

func put[T any](p uintptr, v T) { *(*T)(at(p)) = v }

func get[T any](p uintptr) T { return *(*T)(at(p)) }

// word is the size of a pointer.
const word = unsafe.Sizeof(uintptr(0))

const (
	sqlitePage = 4096 // SQLite's default
	// sizeBytes stand before each piece of memory and say how long it is.
	sizeBytes = 8
	// slabSlots is how many pages are allocated at once.
	slabSlots = 64
)

// slots is the memory for the pages that SQLite keeps. A reader drops all its pages whenever
// somebody has written. libc rounds each up to twice its size, and gives them back to the system
// and asks for them again each time. Slots are kept: there are as many as the caches of all
// connections have ever had pages at one time.
var slots struct {
	mu   sync.Mutex
	size int32   // of a page with all that SQLite keeps with it
	free uintptr // the first of the slots that are free; each has the address of the next
	all  int
}

// useSlots has SQLite take the memory of its pages from slots. It does nothing in a program in
// which another package has used SQLite already.
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
	slots.size = roundup(tls, sqlitePage+header)
	sqlite3.Xsqlite3_config(tls, sqlite3.SQLITE_CONFIG_MALLOC, libc.VaList(args, methods))
})

// function returns a Go function as the translation of SQLite calls it: by the address of a
// closure, which for a function of a package never moves.
func function[T any](f T) uintptr { return *(*uintptr)(unsafe.Pointer(&f)) }

func inSlot(n int32) bool { return sqlitePage <= n && n <= slots.size }

func malloc(tls *libc.TLS, n int32) uintptr {
	var p uintptr
	if inSlot(n) {
		p = slot(tls)
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
	if !inSlot(size(tls, p)) {
		libc.Xfree(tls, p-sizeBytes)
		return
	}
	p -= sizeBytes
	slots.mu.Lock()
	put(p, slots.free)
	slots.free = p
	slots.mu.Unlock()
}

// slot returns a slot, with a new slab where there is none.
func slot(tls *libc.TLS) uintptr {
	slots.mu.Lock()
	defer slots.mu.Unlock()
	if slots.free == 0 {
		each := uintptr(slots.size) + sizeBytes //nolint:gosec // a length
		slab := libc.Xmalloc(tls, types.Size_t(each*slabSlots))
		if slab == 0 {
			return 0
		}
		slots.all += slabSlots
		for n := range uintptr(slabSlots) {
			put(slab+n*each, slots.free)
			slots.free = slab + n*each
		}
	}
	p := slots.free
	slots.free = get[uintptr](p)
	return p
}

func realloc(tls *libc.TLS, p uintptr, n int32) uintptr {
	old := size(tls, p)
	if !inSlot(old) && !inSlot(n) {
		p = libc.Xrealloc(tls, p-sizeBytes, types.Size_t(n)+sizeBytes) //nolint:gosec // a length
		if p == 0 {
			return 0
		}
		put(p, int64(n))
		return p + sizeBytes
	}
	moved := malloc(tls, n)
	if moved != 0 {
		copy(bytesAt(moved, int(n)), bytesAt(p, int(min(old, n))))
		free(tls, p)
	}
	return moved
}

func size(_ *libc.TLS, p uintptr) int32 { return int32(get[int64](p - sizeBytes)) } //nolint:gosec // it was one

func roundup(_ *libc.TLS, n int32) int32 { return (n + 7) &^ 7 }

func begin(*libc.TLS, uintptr) int32 { return sqlite3.SQLITE_OK }

func end(*libc.TLS, uintptr) {}
