package inprocess

import (
	"bytes"
	"container/list"
	"encoding/json"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// itemOverhead is the memory of an item without its data.
	itemOverhead = int64(unsafe.Sizeof(wire.Item{}))
	// streamOverhead is the approximate memory of an empty stream, including its keys and its entries
	// in a map and a list.
	streamOverhead = 512
)

// stream is one run stream. Items are only appended, so that readers can share them. They are packed
// some time after the end of the stream.
type stream struct {
	key store.StreamKey
	// at is the stream's element in its list. The timer removes the stream after its grace. streams.mu
	// guards both.
	at    *list.Element
	timer *time.Timer

	// mu guards the fields below.
	mu     sync.RWMutex
	items  []wire.Item // nil after they were packed
	packed packs
	size   int64
	closed bool
	// gone is true if the stream was removed, for goroutines that found it before.
	gone bool
}

func (st *stream) reopen() error {
	st.mu.RLock()
	defer st.mu.RUnlock()
	if st.closed {
		return store.ErrStreamClosed
	}
	return nil
}

func (st *stream) append(items []wire.Item) (grown int64, err error) {
	st.mu.Lock()
	defer st.mu.Unlock()
	switch {
	case st.gone:
		return 0, store.ErrStreamGone
	case st.closed:
		return 0, store.ErrStreamClosed
	}
	last := st.last()
	for _, item := range items {
		if item.Offset.Compare(last) <= 0 {
			return 0, store.ErrOffsetUsed
		}
		last = item.Offset
		grown += itemOverhead + int64(len(item.Data))
	}
	st.items = append(st.items, items...)
	st.size += grown
	return grown, nil
}

func (st *stream) read(after wire.Offset, limit int) (store.StreamPage, error) {
	st.mu.RLock()
	defer st.mu.RUnlock()
	if st.gone {
		return store.StreamPage{}, store.ErrStreamGone
	}
	last := st.last()
	page := store.StreamPage{Last: last}
	if after.Compare(last) >= 0 {
		page.Ended = st.closed && after == last
		return page, nil
	}
	items := st.items
	if st.packed != nil {
		items = st.packed.unpack(after, limit)
	}
	from := indexAfter(items, after)
	to := len(items)
	if limit > 0 {
		to = min(to, from+limit)
	}
	page.Items = items[from:to:to]
	page.Ended = st.closed && page.Items[len(page.Items)-1].Offset == last
	return page, nil
}

// indexAfter returns the index of the first item after an offset.
func indexAfter(items []wire.Item, o wire.Offset) int {
	at, found := slices.BinarySearchFunc(items, o, func(i wire.Item, o wire.Offset) int { return i.Offset.Compare(o) })
	if found {
		at++
	}
	return at
}

// close ends the stream. It returns false if the stream was already closed.
func (st *stream) close(end wire.Item) (grown int64, closed bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.closed {
		return 0, false
	}
	if last := st.last(); end.Offset.Compare(last) <= 0 {
		end = moved(end, wire.Offset{Fence: last.Fence, N: last.N + 1})
	}
	grown = itemOverhead + int64(len(end.Data))
	st.items = append(st.items, end)
	st.size += grown
	st.closed = true
	return grown, true
}

// kill marks the stream as gone for goroutines that still use it.
func (st *stream) kill() (freed int64, ok bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.gone {
		return 0, false
	}
	st.gone, st.items, st.packed = true, nil, nil
	return st.size, true
}

// pack packs the items of a closed stream, unless it was removed. Readers keep the items that they have
// read.
func (st *stream) pack() (freed int64) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.gone {
		return 0
	}
	before := st.size
	st.packed, st.items = packAll(st.items), nil
	st.size = streamOverhead + st.packed.size()
	return before - st.size
}

func (st *stream) last() wire.Offset {
	if st.packed != nil {
		return st.packed.last()
	}
	if len(st.items) == 0 {
		return wire.Offset{}
	}
	return st.items[len(st.items)-1].Offset
}

// moved returns the item at another offset, and replaces the offset at the end of its data too.
func moved(item wire.Item, to wire.Offset) wire.Item {
	if head, ok := bytes.CutSuffix(item.Data, offsetField(item.Offset)); ok {
		item.Data = append(json.RawMessage(nil), head...)
		item.Data = append(item.Data, offsetField(to)...)
	}
	item.Offset = to
	return item
}

func offsetField(o wire.Offset) []byte { return []byte(`"offset":"` + o.String() + `"}`) }
