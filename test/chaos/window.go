//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// window is where a node can be stopped between the commit that lets a call begin and the call: when the process goes
// on, the answer of the commit is there, and nothing tells it that it was stopped.
type window struct {
	store.Store

	mu sync.Mutex
	// armed gets the thread of the next such commit. Nil: nobody waits for one.
	armed chan spool.ThreadID
}

const (
	// windowWithin bounds how long a node waits for such a commit.
	windowWithin = 400 * time.Millisecond
	// windowOpen is how long the answer of such a commit waits for the stop. Every stop takes longer.
	windowOpen = time.Second
)

// ServeHTTP waits for the next commit, and answers with its thread. The process has to be stopped then.
func (w *window) ServeHTTP(out http.ResponseWriter, r *http.Request) {
	armed := make(chan spool.ThreadID)
	w.arm(armed)
	select {
	case thread := <-armed:
		raw, _ := json.Marshal(thread) //nolint:errchkjson // a text
		_, _ = out.Write(raw)
	case <-time.After(windowWithin):
		w.arm(nil)
		out.WriteHeader(http.StatusNotFound)
	case <-r.Context().Done():
		w.arm(nil)
	}
}

func (w *window) arm(armed chan spool.ThreadID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.armed = armed
}

// Update implements [store.Store].
func (w *window) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	begins := false
	err := w.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		begins = false
		return fn(windowTx{tx, &begins})
	})
	if err != nil || !begins {
		return err
	}
	w.mu.Lock()
	armed := w.armed
	w.armed = nil
	w.mu.Unlock()
	if armed == nil {
		return nil
	}
	select {
	case armed <- key.ID:
	case <-time.After(windowWithin): // nobody waits any more
		return nil
	}
	begin := time.Now()
	for now := begin; now.Sub(begin) < windowOpen; { // it spins, so that it goes on before those that renew leases
		now = time.Now()
	}
	return nil
}

type windowTx struct {
	store.Tx

	begins *bool
}

// Write implements [store.Tx].
func (t windowTx) Write(c store.Changes) error {
	for _, e := range c.Effects {
		*t.begins = *t.begins || e.State == wire.EffectPending
	}
	return t.Tx.Write(c)
}

// pauseInWindow stops a process between a commit and the call that it allows, for longer than the lease. Half of the
// runs are stopped meanwhile.
func (c *campaign) pauseInWindow(ctx context.Context) {
	n, _, free := c.victim(ctx)
	if n == nil {
		return
	}
	defer free()
	var thread spool.ThreadID
	for range 8 {
		if n.get(ctx, "/chaos/window", &thread) == nil {
			break
		}
	}
	if thread == "" || !n.signal(syscall.SIGSTOP) {
		return // no call began in time
	}
	c.count("pauses between a commit and its calls")
	length := time.Duration(float64(c.o.Lease) * (1.2 + 1.3*c.float()))
	if c.n(2) == 0 {
		part := time.Duration(float64(length) * c.float())
		sleep(context.WithoutCancel(ctx), part)
		length -= part
		c.mu.Lock()
		t := c.threads[thread]
		c.mu.Unlock()
		if at := c.freeNode(); t != nil && at != nil && t.stop(ctx, at) {
			c.count("pauses between a commit and its calls, with a stop")
		}
	}
	sleep(context.WithoutCancel(ctx), length)
	n.signal(syscall.SIGCONT)
	c.disturbed()
}

// tooLate writes a call of a tool to the journal if its worker does not have the run any more. The engine has checked
// the lease before, with a third of it as the margin: a worker that learns within that time that it has lost the run
// had lost it before the check. A worker that ends a stopped run itself has ended the context of its calls before.
func (j *journal) tooLate(ctx context.Context, db store.Store, lease time.Duration, call spool.ToolCall) {
	began := time.Now()
	bounded, cancel := context.WithTimeout(ctx, lease/3)
	defer cancel()
	var thread wire.Thread
	err := db.View(bounded, call.Thread, func(v store.View) (err error) {
		thread, err = v.Thread()
		return err
	})
	if err != nil || ctx.Err() != nil || time.Since(began) >= lease/3 ||
		thread.Fence == call.Fence && thread.State.Active() {
		return
	}
	j.write(began, journalLine{Op: "late", On: call.Thread.ID, Fence: call.Fence, Current: thread.Fence})
}

// outcomes checks that a cancelled call that had begun says that its outcome is unknown.
func (t *conversation) outcomes(ctx context.Context, saved []spool.Message) {
	began, err := t.effects.began(ctx, t.key.ID)
	if err != nil {
		t.violated("judge", t.key.String(), "the executions cannot be read: "+err.Error())
		return
	}
	for _, m := range saved {
		for _, p := range m.ToolResults() {
			var r struct {
				Cancelled bool   `json:"cancelled"`
				Outcome   string `json:"outcome"`
			}
			if json.Unmarshal(p.Result, &r) != nil || !r.Cancelled || !began[p.ToolCallID] {
				continue
			}
			t.count("cancelled calls that had begun")
			if r.Outcome != "unknown" {
				t.violated("outcome", string(p.ToolCallID), fmt.Sprintf("the call had begun, and its result is %s", p.Result))
			}
		}
	}
}

// trusting is a store whose leases are shorter than the workers believe, so that they make calls without a look at
// their lease. It renews the leases itself, as long as the process runs.
type trusting struct {
	store.Store

	lease time.Duration
	mu    sync.Mutex
	held  map[spool.ThreadKey]int64
}

// newTrusting returns a store that renews leases until ctx ends.
func newTrusting(ctx context.Context, db store.Store, lease time.Duration) *trusting {
	s := &trusting{Store: db, lease: lease, held: make(map[spool.ThreadKey]int64)}
	go func() {
		for sleep(ctx, lease/3) {
			s.mu.Lock()
			held := maps.Clone(s.held)
			s.mu.Unlock()
			for key, fence := range held {
				s.renew(ctx, key, fence)
			}
		}
	}()
	return s
}

func (s *trusting) renew(ctx context.Context, key spool.ThreadKey, fence int64) {
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		thread, err := tx.Thread()
		if err != nil || thread.LeaseUntil.IsZero() {
			return store.ErrFenced
		}
		thread.LeaseUntil = tx.Now().Add(s.lease)
		return tx.Write(store.Changes{Thread: &thread})
	})
	if spool.CodeOf(err) == spool.Fenced || spool.CodeOf(err) == spool.NotFound {
		s.hold(key, 0)
	}
}

// hold notes the fence of a thread that this process has leased, or 0.
func (s *trusting) hold(key spool.ThreadKey, fence int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.held, key); fence > 0 {
		s.held[key] = fence
	}
}

// Update implements [store.Store].
func (s *trusting) Update(ctx context.Context, key spool.ThreadKey, fence int64, fn func(store.Tx) error) error {
	var took int64
	err := s.Store.Update(ctx, key, fence, func(tx store.Tx) error {
		took = 0
		return fn(trustingTx{tx, s.lease, &took})
	})
	if err == nil && took > 0 {
		s.hold(key, took)
	}
	return err
}

// Claim implements [store.Store].
func (s *trusting) Claim(ctx context.Context, q store.ClaimQuery) ([]store.Delivery, time.Time, error) {
	q.Lease = s.lease
	return s.Store.Claim(ctx, q)
}

type trustingTx struct {
	store.Tx

	lease time.Duration
	took  *int64
}

// Write implements [store.Tx].
func (t trustingTx) Write(c store.Changes) error {
	if most := t.Now().Add(t.lease); c.Thread != nil && c.Thread.LeaseUntil.After(most) {
		thread := *c.Thread
		thread.LeaseUntil, *t.took = most, thread.Fence
		c.Thread = &thread
	}
	return t.Tx.Write(c)
}
