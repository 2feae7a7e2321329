package postgres

import (
	"context"
	"crypto/rand"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

// live implements [store.Live] with the connections of a database. Its times are those of the server's clock, also
// if a test gives the store another one.
//
// Run streams are in tables that are written without waiting for the disk (synchronous_commit is off): a crash of
// the server may lose the last fraction of a second, and nothing else. Wake-ups travel by NOTIFY, and to processes
// behind a pooler by a table that they poll.
type live struct {
	db *DB
	// node tells the wake-ups of this process apart.
	node   string
	topics topics
	outbox outbox
	append appendQueue
	// pollers is until when this process believes that another one polls, in nanoseconds since 1970.
	pollers atomic.Int64

	start   sync.Once
	ctx     context.Context //nolint:containedctx // that of the goroutines, which ends with the database
	cancel  context.CancelFunc
	running sync.WaitGroup
	// ready is closed once wake-ups of other processes arrive.
	ready chan struct{}
}

var _ store.Live = (*live)(nil)

func newLive(db *DB) *live {
	l := &live{db: db, node: rand.Text()[:12], ready: make(chan struct{})}
	l.outbox.init()
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// Live returns the run streams and wake-ups of the database. The first call starts the goroutines that send and
// receive wake-ups and look after the tables of streams. Without [Options.Pooler] it also opens a connection that
// listens. Close ends them.
func (db *DB) Live() store.Live {
	l := db.live
	l.start.Do(func() {
		l.running.Go(l.sendWakes)
		l.running.Go(l.maintain)
		if db.pooler {
			l.running.Go(l.poll)
		} else {
			l.running.Go(l.listen)
		}
	})
	return l
}

// close ends the goroutines. Appends under way are finished, and wake-ups that wait are sent.
func (l *live) close() {
	l.start.Do(func() {}) // a later Live starts nothing
	l.append.close()
	l.cancel()
	l.running.Wait()
}

// Wake implements [store.Live]. It calls the subscribers of this process itself, and leaves those of other
// processes to the goroutine that sends.
func (l *live) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	if len(notice) > store.MaxNoticeBytes {
		return
	}
	l.topics.wake(topic, kind, notice)
	l.outbox.add(wake{topic: topic, kind: kind, notice: notice})
}

// Subscribe implements [store.Live]. It waits for a short time until wake-ups of other processes arrive. If they
// do not yet, fn is called as soon as they do, because some may have been lost until then.
func (l *live) Subscribe(
	ctx context.Context, topic spool.ThreadKey, fn func(kind store.WakeKind, notice []byte),
) (stop func(), err error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	stop = l.topics.subscribe(ctx, topic, fn)
	limit := time.NewTimer(subscribeTimeout)
	defer limit.Stop()
	select {
	case <-l.ready:
	case <-limit.C:
	case <-ctx.Done():
		stop()
		return nil, canceled(ctx)
	}
	return stop, nil
}

const subscribeTimeout = 2 * time.Second

// arrive notes that wake-ups of other processes arrive from now on. If some may have been lost before, all
// subscribers are woken.
func (l *live) arrive(lost bool) {
	if lost {
		l.topics.wakeAll()
	}
	select {
	case <-l.ready:
	default:
		close(l.ready)
	}
}

// pause waits, and reports whether the goroutines go on.
func (l *live) pause(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-l.ctx.Done():
		return false
	}
}
