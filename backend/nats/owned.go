package nats

import (
	"context"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// owned is a stream that this process owns. Its items are in [Live.local].
type owned struct {
	sub *natsgo.Subscription
	// timer removes the stream from the owned ones after its grace. Nil: it is open.
	timer *time.Timer
}

func (o *owned) stopTimer() {
	if o.timer != nil {
		o.timer.Stop()
		o.timer = nil
	}
}

func (l *Live) owns(key store.StreamKey) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.owned[key.Thread][key.ID] != nil
}

// own makes this process the owner of a stream, if it is not.
func (l *Live) own(key store.StreamKey) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.owned[key.Thread][key.ID]; o != nil {
		if o.timer != nil { // an earlier stream with the same id: its timer must not find this one
			o.stopTimer()
			l.owned[key.Thread][key.ID] = &owned{sub: o.sub}
		}
		return nil
	}
	sub, err := l.conn.ChanSubscribe(l.subjects.stream(key), l.in)
	if err != nil {
		return spool.Wrap(spool.Unavailable, "subscribe to NATS", err)
	}
	if l.owned[key.Thread] == nil {
		l.owned[key.Thread] = make(map[wire.StreamID]*owned)
	}
	l.owned[key.Thread][key.ID] = &owned{sub: sub}
	delete(l.lost, key)
	return nil
}

// disown ends the ownership of a stream. If only is set, it does nothing unless that is the owned stream.
func (l *Live) disown(key store.StreamKey, only *owned) {
	l.mu.Lock()
	defer l.mu.Unlock()
	o := l.owned[key.Thread][key.ID]
	if o == nil || only != nil && only != o {
		return
	}
	o.stopTimer()
	l.unsubscribe(o.sub)
	delete(l.owned[key.Thread], key.ID)
	if len(l.owned[key.Thread]) == 0 {
		delete(l.owned, key.Thread)
	}
}

// closeOwned closes a stream of this process, which stays owned as long as it can be read.
func (l *Live) closeOwned(ctx context.Context, key store.StreamKey, end wire.Item, grace time.Duration) error {
	err := l.local.Close(ctx, key, end, grace)
	switch {
	case err != nil && spool.CodeOf(err) != spool.Gone:
		return err
	case err != nil || grace <= 0:
		l.disown(key, nil)
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if o := l.owned[key.Thread][key.ID]; o != nil && o.timer == nil {
		o.timer = time.AfterFunc(grace, func() { l.disown(key, o) })
	}
	return nil
}

// deleteOwned removes the streams of a thread that this process owns.
func (l *Live) deleteOwned(ctx context.Context, thread spool.ThreadKey) {
	_ = l.local.Delete(context.WithoutCancel(ctx), thread) // only a context that has ended fails
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.owned[thread] {
		o.stopTimer()
		l.unsubscribe(o.sub)
	}
	delete(l.owned, thread)
	for key := range l.lost { // a new thread may have the same ids
		if key.Thread == thread {
			delete(l.lost, key)
		}
	}
}

// answer answers a request for a stream of this process.
func (l *Live) answer(m *natsgo.Msg, key store.StreamKey) {
	if m.Reply == "" {
		return
	}
	p := reply{status: statusGone}
	if q, err := decodeRequest(m.Data); err == nil {
		p = l.perform(q, key)
	}
	if err := m.Respond(p.encode()); err != nil {
		l.log.Warn("answer a request for a run stream", "stream", string(key.ID), "error", err)
	}
}

func (l *Live) perform(q request, key store.StreamKey) (p reply) {
	ctx := context.Background() // local calls do not wait
	switch q.op {
	case opFind:
		p.status = statusOf(l.find(ctx, key))
	case opAppend:
		p.status = statusOf(l.appendOwned(ctx, key, q.items))
	case opClose:
		if len(q.items) != 1 {
			return reply{status: statusFailed}
		}
		p.status = statusOf(l.closeOwned(ctx, key, q.items[0], q.grace))
	case opRead:
		limit := int64(maxItems)
		if q.limit > 0 {
			limit = min(limit, q.limit)
		}
		page, err := l.local.Read(ctx, key, q.after, int(limit))
		if err != nil {
			return reply{status: statusOf(err)}
		}
		return bounded(page, q.skip, l.conn.MaxPayload()-overhead)
	default:
		p.status = statusFailed
	}
	return p
}

// find returns nil for an open stream of this process, and otherwise the error of [Live.Open] or a
// [spool.Gone] error.
func (l *Live) find(ctx context.Context, key store.StreamKey) error {
	page, err := l.local.Read(ctx, key, wire.Offset{}, 1)
	if err != nil || page.Last.IsZero() {
		return err
	}
	if page, err = l.local.Read(ctx, key, page.Last, 1); err == nil && page.Ended {
		return store.ErrStreamClosed
	}
	return err
}

func (l *Live) appendOwned(ctx context.Context, key store.StreamKey, items []wire.Item) error {
	err := l.local.Append(ctx, key, items)
	if spool.CodeOf(err) == spool.Gone { // it was removed, because the streams had too many bytes
		l.disown(key, nil)
	}
	return err
}

const (
	// maxItems is how many items a reply has at most, so that one reader does not keep the others waiting.
	maxItems = 1024
	// overhead is the room that a reply needs beside its items, and itemOverhead an item beside its data and
	// type, at most.
	overhead     = 256
	itemOverhead = 48
)

// bounded returns a reply with as much of a page as room has bytes for. Skip is how many bytes of the first
// item's data the reader has. An item that is larger than room is sent in parts.
func bounded(page store.StreamPage, skip, room int64) reply {
	p := reply{status: statusDone, page: page}
	for i, item := range page.Items {
		size := itemOverhead + int64(len(item.Type)+len(item.Data))
		if size <= room && skip == 0 {
			room -= size
			continue
		}
		p.page.Ended = false
		if i > 0 {
			p.page.Items = page.Items[:i]
			return p
		}
		whole := int64(len(item.Data))
		from := min(skip, whole)
		to := min(whole, from+max(room-itemOverhead-int64(len(item.Type)), 1))
		p.size, item.Data = whole, item.Data[from:to]
		p.page.Ended = page.Ended && to == whole && len(page.Items) == 1
		p.page.Items = []wire.Item{item}
		return p
	}
	return p
}
