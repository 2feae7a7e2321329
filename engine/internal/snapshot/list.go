package snapshot

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// minBlock and maxBlock bound the size of a block of an [encodedList]. A block for one large
	// message may be larger.
	minBlock = 2 << 10
	maxBlock = 256 << 10
	// indexCost is the approximate number of bytes that the index uses for a message.
	indexCost = 96
)

// encodedList has the messages in the view of a thread, each encoded once. Clients share the list, so
// its messages never change: [encodedList.extend] returns another list, which shares the blocks.
//
// The id of the last message identifies the whole list. A view only grows at its end, loses its end, or
// gets a lost end back, and the engine never uses a message id twice. So the messages before a given
// message are always the same.
type encodedList struct {
	createdAt time.Time // the thread's creation time
	blocks    [][]byte  // a message begins with a comma
	index     []encodedMessage
	size      int64 // in bytes, the index included
	// form is the form of the next message. Nil stands for the JSON of [spool.Message].
	form wire.SnapshotForm
}

// encodedMessage locates a message in the blocks of a list.
type encodedMessage struct {
	id       spool.MessageID
	block    int
	from, to int
	after    int64 // its AfterSeq
}

// last returns the id of the last message, or "" for an empty list.
func (l *encodedList) last() spool.MessageID {
	if l == nil || len(l.index) == 0 {
		return ""
	}
	return l.index[len(l.index)-1].id
}

// extend returns the list of the view, and whether it shares the blocks of l. A nil l stands for an
// empty list; form is then the form of the first message.
//
// Extend writes after the messages of l in its last block, so a list must not be extended twice.
func (l *encodedList) extend(
	v store.View, thread wire.Thread, form wire.SnapshotForm,
) (_ *encodedList, shares bool, err error) {
	if l != nil && !l.createdAt.Equal(thread.CreatedAt) {
		l = nil
	}
	after := l.last()
	if after != "" {
		last, err := record.Encoded(v).MessageIDs(store.MessageQuery{Limit: 1})
		if err != nil || len(last) == 1 && last[0] == after {
			return l, true, err
		}
		switch _, err := store.FindMessage(v, after); {
		case record.Missing(err): // the view has lost its end
			after = ""
		case err != nil:
			return nil, false, err
		}
	}
	grown := &encodedList{createdAt: thread.CreatedAt, form: form}
	if after != "" {
		grown.blocks, grown.index, grown.size, grown.form = slices.Clone(l.blocks), l.index, l.size, l.form
	}
	err = grown.addAll(v, store.MessageQuery{After: after})
	return grown, after != "", err
}

// listPage returns a list with only the messages that o selects. O must have a limit.
func listPage(v store.View, thread wire.Thread, o wire.SnapshotOptions) (*encodedList, error) {
	encoded, l := record.Encoded(v), &encodedList{createdAt: thread.CreatedAt}
	q := store.MessageQuery{After: o.LastMessageID, Before: o.Before, Limit: o.Limit + 1}
	ids, err := encoded.MessageIDs(q)
	if err != nil {
		return nil, err
	}
	if len(ids) > o.Limit {
		q.After = ids[0]
	}
	q.Limit = 0
	return l, encoded.EachMessage(q, l.add)
}

// addAll adds the messages that q selects.
func (l *encodedList) addAll(v store.View, q store.MessageQuery) error {
	if l.form == nil {
		return record.Encoded(v).EachMessage(q, l.add)
	}
	var scratch []byte
	if encoded, ok := v.(store.EncodedMessages); ok {
		return encoded.EachMessage(q, func(m spool.Message, content []byte) error {
			if err := m.Content.UnmarshalJSON(content); err != nil {
				return spool.Wrap(spool.Internal, "a message cannot be decoded", err)
			}
			return l.addFormed(m, &scratch)
		})
	}
	all, err := v.Messages(q)
	for i := 0; i < len(all) && err == nil; i++ {
		err = l.addFormed(all[i], &scratch)
	}
	return err
}

// add adds a message.
func (l *encodedList) add(m spool.Message, content []byte) error {
	m.Content = nil
	text, err := json.Marshal(m)
	if err != nil {
		return spool.Wrap(spool.Internal, "a message cannot be encoded", err)
	}
	// This finds the content: inside an earlier JSON string, the quotes would be escaped.
	head, tail, _ := bytes.Cut(text, []byte(`"content":[]`))
	const name = `"content":`
	l.put(m, []byte(","), head, []byte(name), content, tail)
	return nil
}

// addFormed adds a message in the form of the list.
func (l *encodedList) addFormed(m spool.Message, scratch *[]byte) error {
	m.Content = m.Content.Shown()
	text, next, err := l.form.AppendMessage((*scratch)[:0], m)
	if err != nil {
		return err
	}
	*scratch, l.form = text[:0], next
	l.put(m, text)
	return nil
}

// put adds a message whose text is the concatenation of parts.
func (l *encodedList) put(m spool.Message, parts ...[]byte) {
	size := 0
	for _, p := range parts {
		size += len(p)
	}
	b := l.room(size)
	from := len(*b)
	for _, p := range parts {
		*b = append(*b, p...)
	}
	l.index = append(l.index, encodedMessage{
		id: m.ID, block: len(l.blocks) - 1, from: from, to: len(*b), after: m.AfterSeq,
	})
	l.size += indexCost
}

// room returns the last block with room for need more bytes.
func (l *encodedList) room(need int) *[]byte {
	if n := len(l.blocks); n > 0 && cap(l.blocks[n-1])-len(l.blocks[n-1]) >= need {
		return &l.blocks[n-1]
	}
	grown := max(need, min(max(int(l.size), minBlock), maxBlock))
	l.blocks = append(l.blocks, make([]byte, 0, grown))
	l.size += int64(grown)
	return &l.blocks[len(l.blocks)-1]
}

// cut returns the messages that o selects: the elements of a JSON array, in pieces.
func (l *encodedList) cut(o wire.SnapshotOptions) [][]byte {
	from, to := 0, len(l.index)
	if at := l.find(o.LastMessageID); at >= 0 {
		from = at + 1
	}
	if at := l.find(o.Before); at >= 0 {
		to = at
	}
	if o.Limit > 0 {
		from = max(from, to-o.Limit)
	}
	return l.between(from, to)
}

// All implements [wire.FormedMessages].
func (l *encodedList) All() [][]byte { return l.between(0, len(l.index)) }

// First implements [wire.FormedMessages].
func (l *encodedList) First(n int) [][]byte { return l.between(0, n) }

// Before implements [wire.FormedMessages].
func (l *encodedList) Before(seq int64) [][]byte {
	for i, m := range l.index {
		if m.after > seq {
			return l.First(i)
		}
	}
	return l.All()
}

// Through implements [wire.FormedMessages].
func (l *encodedList) Through(id spool.MessageID) [][]byte {
	if at := l.find(id); at >= 0 {
		return l.First(at + 1)
	}
	return nil
}

// between returns the messages from one index to another: the elements of a JSON array, in pieces. In
// another form, a message may be empty.
func (l *encodedList) between(from, to int) (pieces [][]byte) {
	if from >= to {
		return nil
	}
	first, last := l.index[from], l.index[to-1]
	pieces = make([][]byte, 0, last.block-first.block+1)
	for n := first.block; n <= last.block; n++ {
		piece := l.blocks[n]
		if n == last.block {
			piece = piece[:last.to]
		}
		if n == first.block {
			piece = piece[first.from:]
		}
		if len(piece) > 0 {
			pieces = append(pieces, piece)
		}
	}
	if len(pieces) > 0 {
		pieces[0] = pieces[0][len(","):]
	}
	return pieces
}

// find returns the index of a message, or -1 if the list does not have it.
func (l *encodedList) find(id spool.MessageID) int {
	if id == "" {
		return -1
	}
	for at, m := range slices.Backward(l.index) {
		if m.id == id {
			return at
		}
	}
	return -1
}

// since returns the messages that were saved when the record had reached seq, or later. They have no
// content.
func (l *encodedList) since(seq int64) (found []spool.Message) {
	for _, m := range slices.Backward(l.index) {
		if m.after < seq {
			break
		}
		found = append(found, spool.Message{ID: m.id, AfterSeq: m.after})
	}
	slices.Reverse(found)
	return found
}
