package postgres

import (
	"context"
	"encoding/binary"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// wake is a wake-up for other processes.
type wake struct {
	topic  spool.ThreadKey
	kind   store.WakeKind
	notice []byte
}

// outbox has the wake-ups that wait to be sent. Equal ones wait once.
type outbox struct {
	mu      sync.Mutex
	waiting []wake
	known   map[wakeName]struct{}
	bytes   int // of the notices
	// ready is true while the next wake-up is sent at once.
	ready bool
	// filled has a value while something may be waiting.
	filled chan struct{}
}

type wakeName struct {
	topic spool.ThreadKey
	kind  store.WakeKind
}

// What the outbox keeps while the database does not answer. Wake-ups beyond are dropped: all subscribers are
// woken when the connection is back.
const (
	maxWakes       = 20_000
	maxNoticeBytes = 8 << 20
)

func (o *outbox) init() {
	o.known = make(map[wakeName]struct{})
	o.filled = make(chan struct{}, 1)
}

func (o *outbox) add(wakes ...wake) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, w := range wakes {
		if len(o.waiting) >= maxWakes || o.bytes+len(w.notice) > maxNoticeBytes {
			return
		}
		if w.notice == nil {
			name := wakeName{w.topic, w.kind}
			if _, waits := o.known[name]; waits {
				continue
			}
			o.known[name] = struct{}{}
		}
		o.waiting = append(o.waiting, w)
		o.bytes += len(w.notice)
	}
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

// drain empties the outbox.
func (o *outbox) drain() []wake {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := o.waiting
	o.waiting, o.bytes, o.ready = nil, 0, false
	clear(o.known)
	return waiting
}

// setReady notes that the next wake-up is sent at once, unless one waits already.
func (o *outbox) setReady() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.ready = len(o.waiting) == 0
}

// isReady reports whether a wake-up would be sent at once.
func (o *outbox) isReady() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.ready && len(o.waiting) == 0
}

// tellOf tells the workers of other processes of tickets that a transaction is about to commit: one of them waits for
// the lock of the thread, and claims the run as soon as the transaction is over. A ticket that would have to gather
// with others is left to the wake-up behind the commit, so that a busy process sends no more than without.
func (l *live) tellOf(tickets []wire.Job) {
	if len(tickets) == 0 || l.db.pooler || !l.outbox.isReady() {
		return
	}
	for _, ticket := range tickets {
		if notice := store.TicketNotice(ticket); notice != nil {
			l.outbox.add(wake{topic: store.JobsTopic, kind: store.WakeJobs, notice: notice})
		}
	}
}

const (
	// sendPause is how long wake-ups gather after some were sent. The first one after a pause is sent at once.
	sendPause = 5 * time.Millisecond
	// sendPausePooled is the same for wake-ups that others find by polling, and so come later anyway.
	sendPausePooled = 40 * time.Millisecond
	sendTimeout     = 5 * time.Second
	maxSendBackoff  = 2 * time.Second
)

// sendWakes sends what gathers in the outbox, until the database is closed, and then the rest.
func (l *live) sendWakes() {
	between := sendPause
	if l.db.pooler {
		between = sendPausePooled
	}
	backoff := between
	for {
		l.outbox.setReady()
		select {
		case <-l.outbox.filled:
		case <-l.ctx.Done():
			_ = l.send(l.outbox.drain())
			return
		}
		waiting := l.outbox.drain()
		if err := l.send(waiting); err != nil {
			l.db.log.WarnContext(l.ctx, "send wake-ups", "error", err)
			l.outbox.add(waiting...)
			backoff = min(2*backoff, maxSendBackoff)
		} else {
			backoff = between
		}
		l.pause(backoff)
	}
}

// send sends wake-ups in one transaction of their own, apart from the store's. A transaction with a NOTIFY takes a lock
// of the whole server at its commit, and a transaction of the store would hold that lock until the disk has answered.
func (l *live) send(wakes []wake) error {
	if len(wakes) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(l.ctx), sendTimeout)
	defer cancel()
	body := encodeWakes(wakes)
	batch := []statement{notSynced}
	if l.somePoll() {
		batch = append(batch, l.storeWakes(body)...)
	}
	return l.db.run(ctx, append(batch, l.notify(payloads(l.node, body)))...)
}

// notify returns the statement that sends notifications to the processes that listen.
func (l *live) notify(payloads []string) statement {
	return statement{
		sql:  "SELECT pg_notify(?, p.text) FROM unnest(?::text[]) AS p (text)",
		args: []any{l.channel(), payloads},
	}
}

// notSynced makes the commit of a transaction not wait for the disk.
var notSynced = statement{sql: "SELECT set_config('synchronous_commit', 'off', true)"}

// receive calls the subscribers of this process for the wake-ups of another one.
func (l *live) receive(body []byte) {
	for _, w := range decodeWakes(body) {
		l.topics.wake(w.topic, w.kind, w.notice)
	}
}

// encodeWakes returns the bytes of wake-ups: of each its tenant, thread, kind and notice, with their lengths.
func encodeWakes(wakes []wake) (body []byte) {
	add := func(field string) {
		body = binary.AppendUvarint(body, uint64(len(field)))
		body = append(body, field...)
	}
	for _, w := range wakes {
		add(string(w.topic.Tenant))
		add(string(w.topic.ID))
		add(string(w.kind))
		add(string(w.notice))
	}
	return body
}

// decodeWakes returns the wake-ups in the bytes, up to the first that it does not understand.
func decodeWakes(body []byte) (wakes []wake) {
	for len(body) > 0 {
		var fields [4]string
		for i := range fields {
			n, size := binary.Uvarint(body)
			if size <= 0 || n > uint64(len(body)) || size+int(n) > len(body) { //nolint:gosec // it is a length
				return wakes
			}
			fields[i], body = string(body[size:size+int(n)]), body[size+int(n):] //nolint:gosec // as above
		}
		w := wake{
			topic: spool.ThreadKey{Tenant: spool.Tenant(fields[0]), ID: spool.ThreadID(fields[1])},
			kind:  store.WakeKind(fields[2]),
		}
		if w.kind == store.WakeNotice || fields[3] != "" {
			w.notice = []byte(fields[3])
		}
		wakes = append(wakes, w)
	}
	return wakes
}
