package postgres

import (
	"context"
	"sync"

	"github.com/spoolhq/spool"
)

// threadLocks keep the transactions of one process on one thread apart before they take a connection. Else a busy
// thread would take all connections, and each but one would wait for the thread's lock in the database. The zero value
// works.
type threadLocks struct {
	mu   sync.Mutex
	held map[spool.ThreadKey]*threadLock
}

type threadLock struct {
	turn  chan struct{} // has the turn unless a transaction has it
	users int           // those that have the turn or wait for it
}

// lock waits for the turn. The caller must call unlock unless there is an error.
func (l *threadLocks) lock(ctx context.Context, key spool.ThreadKey) (unlock func(), err error) {
	if key.ID == "" {
		return func() {}, nil
	}
	lock := l.enter(key)
	select {
	case <-lock.turn:
		return func() {
			lock.turn <- struct{}{}
			l.release(key, lock)
		}, nil
	case <-ctx.Done():
		l.release(key, lock)
		return nil, canceled(ctx)
	}
}

func (l *threadLocks) enter(key spool.ThreadKey) *threadLock {
	l.mu.Lock()
	defer l.mu.Unlock()
	lock := l.held[key]
	if lock == nil {
		lock = &threadLock{turn: make(chan struct{}, 1)}
		lock.turn <- struct{}{}
		if l.held == nil {
			l.held = make(map[spool.ThreadKey]*threadLock)
		}
		l.held[key] = lock
	}
	lock.users++
	return lock
}

func (l *threadLocks) release(key spool.ThreadKey, lock *threadLock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if lock.users--; lock.users == 0 {
		delete(l.held, key)
	}
}
