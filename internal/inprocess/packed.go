package inprocess

import (
	"bytes"
	"encoding/binary"
	"slices"

	"github.com/spoolhq/spool/wire"
)

// packItems is how many items are packed together: as many as a reader takes at once.
const packItems = 256

// packs are the packed items of a stream in several pieces, so that a reader of one page of a long
// stream unpacks only that page.
type packs []*packed

// packAll packs items.
func packAll(items []wire.Item) packs {
	all := make(packs, 0, (len(items)+packItems-1)/packItems)
	for piece := range slices.Chunk(items, packItems) {
		all = append(all, pack(piece))
	}
	return all
}

// unpack returns up to limit items after an offset. It unpacks whole pieces, so it may return a few
// more items before and after. A limit of zero stands for all.
func (p packs) unpack(after wire.Offset, limit int) (items []wire.Item) {
	from, found := slices.BinarySearchFunc(p, after,
		func(piece *packed, o wire.Offset) int { return piece.last.Compare(o) })
	if found {
		from++
	}
	for _, piece := range p[from:] {
		items = append(items, piece.unpack()...)
		if limit > 0 && len(items)-indexAfter(items, after) >= limit {
			break
		}
	}
	return items
}

func (p packs) last() wire.Offset {
	if len(p) == 0 {
		return wire.Offset{}
	}
	return p[len(p)-1].last
}

// size returns the approximate memory that the pieces use.
func (p packs) size() (n int64) {
	for _, piece := range p {
		n += piece.size()
	}
	return n
}

// packed has some items of an ended stream in one piece of memory, because ended streams are rarely
// read again. An item is stored as its difference from the previous item of its type: their common
// beginning and end are left out, and so is the offset at the end of the data. A delta of a few letters
// takes about 12 bytes more than the letters, instead of 150.
type packed struct {
	types []wire.ItemType
	items int
	data  int // the number of bytes of all items' data
	last  wire.Offset
	buf   []byte
}

// pack packs items.
func pack(items []wire.Item) *packed {
	p := &packed{items: len(items)}
	var before [][]byte // the data of the latest item of each type
	var at wire.Offset
	var seq int64
	for _, item := range items {
		kind := slices.Index(p.types, item.Type)
		if kind < 0 {
			kind = len(p.types)
			p.types, before = append(p.types, item.Type), append(before, nil)
		}
		data, cut := bytes.CutSuffix(item.Data, offsetField(item.Offset))
		head := uint64(kind) << 1
		if cut {
			head++
		}
		p.buf = binary.AppendUvarint(p.buf, head)
		p.buf = binary.AppendVarint(p.buf, item.Offset.Fence-at.Fence)
		p.buf = binary.AppendVarint(p.buf, item.Offset.N-at.N)
		p.buf = binary.AppendVarint(p.buf, item.Seq-seq)
		front, back := common(before[kind], data)
		p.buf = binary.AppendUvarint(p.buf, uint64(front)) //nolint:gosec // a length
		p.buf = binary.AppendUvarint(p.buf, uint64(back))  //nolint:gosec // a length
		own := data[front : len(data)-back]
		p.buf = binary.AppendUvarint(p.buf, uint64(len(own)))
		p.buf = append(p.buf, own...)
		before[kind], at, seq = data, item.Offset, item.Seq
		p.data += len(item.Data)
	}
	p.last, p.buf = at, slices.Clip(bytes.Clone(p.buf))
	return p
}

// common returns the lengths of the common beginning and the common end of two texts, which do not
// overlap.
func common(a, b []byte) (front, back int) {
	n := min(len(a), len(b))
	for front < n && a[front] == b[front] {
		front++
	}
	for back < n-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front, back
}

// unpack returns the packed items.
func (p *packed) unpack() []wire.Item {
	items := make([]wire.Item, 0, p.items)
	room := make([]byte, 0, p.data) // for the data of all items
	before := make([][]byte, len(p.types))
	var at wire.Offset
	var seq int64
	r := unpacker(p.buf)
	for range p.items {
		head := r.number()
		at.Fence += r.signed()
		at.N += r.signed()
		seq += r.signed()
		kind := head >> 1
		front, back, own := r.number(), r.number(), r.next(r.number())
		from, old := len(room), before[kind]
		room = append(room, old[:front]...)
		room = append(room, own...)
		room = append(room, old[len(old)-back:]...)
		before[kind] = room[from:]
		if head&1 == 1 {
			room = append(room, offsetField(at)...)
		}
		items = append(items, wire.Item{Offset: at, Type: p.types[kind], Seq: seq, Data: room[from:len(room):len(room)]})
	}
	return items
}

// size returns the approximate memory that the packed items use.
func (p *packed) size() int64 { return int64(cap(p.buf)) + packedOverhead }

// packedOverhead is the memory of packed items without their buffer.
const packedOverhead = 128

// unpacker reads the output of pack.
type unpacker []byte

func (r *unpacker) number() int {
	n, size := binary.Uvarint(*r)
	*r = (*r)[size:]
	return int(n) //nolint:gosec // it was one
}

func (r *unpacker) signed() int64 {
	n, size := binary.Varint(*r)
	*r = (*r)[size:]
	return n
}

func (r *unpacker) next(n int) []byte {
	text := (*r)[:n]
	*r = (*r)[n:]
	return text
}
