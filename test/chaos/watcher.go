//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// watcher is a client that follows a thread at one node after another, and leaves whenever it likes.
type watcher struct {
	talk   *conversation
	client *spooltest.Client
	done   chan struct{}
	// empty counts the last sessions that got no frame, as from a machine that is too busy to answer.
	empty int

	mu    sync.Mutex
	seq   int64
	state wire.State
}

// watch adds a client that follows the thread until ctx ends.
func (t *conversation) watch(ctx context.Context, name string) {
	w := &watcher{
		talk: t, client: &spooltest.Client{Name: name, Thread: t.key, FromStart: true}, done: make(chan struct{}),
	}
	t.history.Client(w.client)
	t.watchers = append(t.watchers, w)
	go func() {
		defer close(w.done)
		for ctx.Err() == nil {
			w.session(ctx)
			sleep(ctx, time.Duration(t.n(150))*time.Millisecond)
		}
	}()
}

// session follows for a while.
func (w *watcher) session(ctx context.Context) {
	length := time.Duration(200+w.talk.n(4000)) * time.Millisecond
	if w.talk.ending() {
		length += 5 * time.Second
	}
	length += time.Duration(min(w.empty, 10)) * 2 * time.Second
	w.empty++
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	at := w.client.Cursor()
	if at == nil {
		at = &wire.Cursor{}
	}
	w.client.Connected(at, "")
	w.talk.count("connections of clients")
	o := client.FollowOptions{
		Cursor: at, Idle: 3 * time.Second, OnRetry: func(error, time.Duration) { w.talk.count("connections of clients") },
	}
	for f, err := range w.talk.anyNode().client.Follow(ctx, w.talk.key.ID, o) {
		if err != nil {
			w.failed(ctx, err)
			return
		}
		w.saw(f)
		w.empty = 0
	}
}

// failed judges the end of a session.
func (w *watcher) failed(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case spool.CodeOf(err) == spool.NotFound && w.client.Cursor() == nil: // the thread is not there yet
	default:
		w.talk.violated("client-error", fmt.Sprintf("%s to %s", w.talk.key, w.client.Name), err.Error())
	}
}

func (w *watcher) saw(f wire.Frame) {
	w.client.Saw(f)
	w.talk.count("frames")
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case f.Kind == wire.FrameSnapshot && f.Snapshot.AfterMessageID == nil:
		w.seq, w.state = max(w.seq, f.Snapshot.LastEventSeq), f.Snapshot.Thread.State
		w.talk.count("snapshots in place of frames")
	case f.Kind == wire.FrameThread && f.Event.Type == wire.NoticeStateChange:
		var s wire.StateChange
		if json.Unmarshal(f.Event.Payload, &s) == nil {
			w.state = s.State
		}
	case f.Kind == wire.FrameThread && f.Event.Seq > 0:
		w.seq = f.Event.Seq
	}
}

// place returns how far the client is.
func (w *watcher) place() (int64, wire.State) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.seq, w.state
}

// seenWithin is how long a client may be behind a thread that has ended.
const seenWithin = 30 * time.Second

// untilSeen waits until all clients have the end of the thread.
func (t *conversation) untilSeen(ctx context.Context) {
	began := time.Now()
	for {
		var thread wire.Thread
		err := t.store.View(ctx, t.key, func(v store.View) (err error) {
			thread, err = v.Thread()
			return err
		})
		if spool.CodeOf(err) == spool.NotFound {
			return
		}
		behind := ""
		for _, w := range t.watchers {
			if seq, state := w.place(); err == nil && (seq != thread.LastSeq || state != thread.State) {
				behind = fmt.Sprintf("%s has seq %d and %s, and the thread has %d and %s", w.client.Name, seq, state,
					thread.LastSeq, thread.State)
			}
		}
		if err == nil && behind == "" {
			return
		}
		if time.Since(began) > seenWithin {
			t.violated("client-behind", t.key.String(), behind)
			return
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return
		}
	}
}
