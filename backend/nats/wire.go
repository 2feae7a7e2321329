package nats

import (
	"encoding/binary"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// wireVersion begins every message between processes. A process drops messages of another version, and the
// stream of a process with another version is gone for it.
const wireVersion = 1

// nodeID names a process, or rather one [Live] of it, for as long as it lives.
type nodeID uint64

// errWire is a message that cannot be read.
var errWire = errors.New("malformed message")

// wakeUp is a wake-up on its way.
type wakeUp struct {
	from   nodeID
	topic  spool.ThreadKey // in the subject
	kind   store.WakeKind
	notice []byte
}

func (w wakeUp) encode() []byte {
	b := make([]byte, 0, 16+len(w.kind)+len(w.notice))
	b = binary.AppendUvarint(append(b, wireVersion), uint64(w.from))
	b = appendText(b, string(w.kind))
	return append(b, w.notice...)
}

func decodeWakeUp(data []byte) (w wakeUp, err error) {
	r := newReader(data)
	w.from, w.kind = nodeID(r.unsigned()), store.WakeKind(r.text())
	if len(r.rest) > 0 {
		w.notice = r.rest
	}
	return w, r.err
}

// deletion says that the streams of a thread are deleted.
type deletion struct {
	from   nodeID
	thread spool.ThreadKey
}

func (d deletion) encode() []byte {
	b := binary.AppendUvarint([]byte{wireVersion}, uint64(d.from))
	return appendText(appendText(b, string(d.thread.Tenant)), string(d.thread.ID))
}

func decodeDeletion(data []byte) (d deletion, err error) {
	r := newReader(data)
	d.from = nodeID(r.unsigned())
	d.thread = spool.ThreadKey{Tenant: spool.Tenant(r.text()), ID: spool.ThreadID(r.text())}
	return d, r.err
}

// operation is what a request asks of the owner of a stream.
type operation byte

const (
	opFind operation = iota + 1
	opAppend
	opRead
	opClose
)

// request is a request to the owner of a stream, which is in the subject.
type request struct {
	op operation
	// after, limit and skip are of opRead. Skip is how many bytes of the first item's data the reader has.
	after wire.Offset
	limit int64
	skip  int64
	// items are of opAppend, and the end of opClose.
	items []wire.Item
	grace time.Duration
}

func (q request) encode() []byte {
	b := []byte{wireVersion, byte(q.op)}
	b = appendOffset(b, q.after)
	for _, n := range []int64{q.limit, q.skip, int64(q.grace)} {
		b = binary.AppendVarint(b, n)
	}
	return appendItems(b, q.items)
}

func decodeRequest(data []byte) (q request, err error) {
	r := newReader(data)
	q.op = operation(r.octet())
	q.after = r.offset()
	q.limit, q.skip, q.grace = r.signed(), r.signed(), time.Duration(r.signed())
	q.items = r.items()
	if q.limit < 0 || q.skip < 0 {
		return q, errWire
	}
	return q, r.err
}

// status is the outcome of a request.
type status byte

const (
	statusDone status = iota + 1
	statusGone
	statusClosed
	statusOffsetUsed
	statusFailed
)

// statusOf returns the status for an error. Its method err returns the error again.
func statusOf(err error) status {
	switch {
	case err == nil:
		return statusDone
	case errors.Is(err, store.ErrStreamGone):
		return statusGone
	case errors.Is(err, store.ErrStreamClosed):
		return statusClosed
	case errors.Is(err, store.ErrOffsetUsed):
		return statusOffsetUsed
	default:
		return statusFailed
	}
}

func (s status) err() error {
	switch s {
	case statusDone:
		return nil
	case statusGone:
		return store.ErrStreamGone
	case statusClosed:
		return store.ErrStreamClosed
	case statusOffsetUsed:
		return store.ErrOffsetUsed
	default:
		return spool.Errorf(spool.Unavailable, "another process could not use its run stream")
	}
}

// reply is the answer to a request.
type reply struct {
	status status
	page   store.StreamPage
	// size is how many bytes of data the last item has. If the item has fewer, it is the next part of an item
	// that one message has no room for. Zero: the items are whole.
	size int64
}

func (p reply) encode() []byte {
	size := 64
	for _, item := range p.page.Items {
		size += 48 + len(item.Type) + len(item.Data)
	}
	b := append(make([]byte, 0, size), wireVersion, byte(p.status), flag(p.page.Ended))
	b = appendOffset(b, p.page.Last)
	b = binary.AppendVarint(b, p.size)
	return appendItems(b, p.page.Items)
}

func flag(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func decodeReply(data []byte) (p reply, err error) {
	r := newReader(data)
	p.status, p.page.Ended = status(r.octet()), r.octet() != 0
	p.page.Last, p.size = r.offset(), r.signed()
	p.page.Items = r.items()
	return p, r.err
}

func appendText[T string | []byte](b []byte, text T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func appendOffset(b []byte, o wire.Offset) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, o.Fence), o.N)
}

func appendItems(b []byte, items []wire.Item) []byte {
	b = binary.AppendUvarint(b, uint64(len(items)))
	for _, item := range items {
		b = binary.AppendVarint(appendOffset(b, item.Offset), item.Seq)
		b = appendText(appendText(b, string(item.Type)), []byte(item.Data))
	}
	return b
}

// minItem is the length of the shortest item in a message.
const minItem = 5

// reader reads a message. After an error it returns zero values.
type reader struct {
	rest []byte
	err  error
}

func newReader(data []byte) *reader {
	r := &reader{rest: data}
	if r.octet() != wireVersion {
		r.fail()
	}
	return r
}

func (r *reader) fail() { r.rest, r.err = nil, errWire }

func (r *reader) octet() byte {
	if len(r.rest) == 0 {
		r.fail()
		return 0
	}
	c := r.rest[0]
	r.rest = r.rest[1:]
	return c
}

func (r *reader) unsigned() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) signed() int64 {
	n, size := binary.Varint(r.rest)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *reader) bytes() []byte {
	n := r.unsigned()
	if n > uint64(len(r.rest)) {
		r.fail()
		return nil
	}
	b := r.rest[:n:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) text() string { return string(r.bytes()) }

func (r *reader) offset() wire.Offset { return wire.Offset{Fence: r.signed(), N: r.signed()} }

func (r *reader) items() []wire.Item {
	n := r.unsigned()
	if n > uint64(len(r.rest))/minItem {
		r.fail()
		return nil
	}
	items := make([]wire.Item, 0, n)
	for range n {
		item := wire.Item{Offset: r.offset(), Seq: r.signed(), Type: wire.ItemType(r.text()), Data: r.bytes()}
		if r.err != nil {
			return nil
		}
		items = append(items, item)
	}
	return items
}
