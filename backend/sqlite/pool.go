package sqlite

import (
	"context"
	"errors"
	"sync"

	"github.com/spoolhq/spool"
)

// pool keeps the read connections. In WAL mode they read while the writer writes. Each sees a state
// that does not change until its transaction ends.
type pool struct {
	path  string
	rules hostRules
	slots chan struct{}

	mu     sync.Mutex
	idle   []*conn
	closed bool
}

func newPool(path string, size int, rules hostRules) *pool {
	return &pool{path: path, rules: rules, slots: make(chan struct{}, size)}
}

// get waits for a connection. The caller must return it with put.
func (p *pool) get(ctx context.Context) (*conn, error) {
	if err := canceled(ctx); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, canceled(ctx)
	}
	c, err := p.lastIdle()
	if err == nil && c == nil {
		c, err = dial(p.path)
		if err == nil {
			err = c.exec("PRAGMA query_only = ON")
		}
		if err == nil {
			err = p.rules.guard(c)
		}
	}
	if err != nil {
		<-p.slots
		return nil, err
	}
	return c, nil
}

// lastIdle returns the connection that was used last, or nil if no connection is idle.
func (p *pool) lastIdle() (*conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, errClosed
	}
	if len(p.idle) == 0 {
		return nil, nil //nolint:nilnil // documented
	}
	c := p.idle[len(p.idle)-1]
	p.idle = p.idle[:len(p.idle)-1]
	return c, nil
}

func (p *pool) put(c *conn) {
	p.mu.Lock()
	defer func() {
		p.mu.Unlock()
		<-p.slots
	}()
	if p.closed {
		_ = c.close()
		return
	}
	p.idle = append(p.idle, c)
}

// read runs fn with a connection outside a transaction. Fn must run only one statement.
func (p *pool) read(ctx context.Context, fn func(c *conn) error) error {
	c, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put(c)
	return fn(c)
}

// snapshot runs fn with a connection in a transaction, so that all of its reads see one state.
func (p *pool) snapshot(ctx context.Context, fn func(c *conn) error) (err error) {
	c, err := p.get(ctx)
	if err != nil {
		return err
	}
	defer p.put(c)
	if err := c.exec("BEGIN"); err != nil {
		return err
	}
	// deferred, because fn may panic
	defer func() {
		if e := c.exec("ROLLBACK"); e != nil && err == nil {
			err = e
		}
	}()
	return fn(c)
}

// close closes the idle connections now, and the others when they come back.
func (p *pool) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	var errs []error
	for _, c := range p.idle {
		errs = append(errs, c.close())
	}
	p.idle = nil
	return errors.Join(errs...)
}

var errClosed = &spool.Error{Code: spool.Unavailable, Message: "the store is closed"}
