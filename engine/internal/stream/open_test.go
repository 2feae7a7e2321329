package stream

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// slowSink is a sink whose streams open after a while, or not at all.
type slowSink struct {
	*sink

	takes time.Duration
	fails error
}

func (s *slowSink) Open(ctx context.Context, _ store.StreamKey) error {
	select {
	case <-time.After(s.takes):
		return s.fails
	case <-ctx.Done():
		return ctx.Err()
	}
}

// What is emitted before the stream is open is written behind its first item. An end waits for the stream. Clients are
// told when the stream is open, or cannot be opened.
func TestOpen(t *testing.T) {
	t.Parallel()

	ends := func(w writing) {
		w.Close(t.Context(), wire.ItemRunFinished, wire.StreamFinished{})
	}
	for _, c := range []struct {
		name   string
		takes  time.Duration
		fails  error
		do     func(w writing)
		want   []string
		opened time.Duration
	}{
		{"items", 3 * time.Second, nil, func(w writing) {
			w.says("a")
			<-time.After(2 * time.Second) // the window is over
			w.says("b")
			<-time.After(2 * time.Second)
		}, []string{"RUN_STARTED@4-1/1 a@4-2/1 b@4-3/1"}, 3 * time.Second},
		{"a full batch", 3 * time.Second, nil, func(w writing) {
			for _, name := range []string{"a", "b", "c"} {
				w.says(name)
			}
			<-time.After(2 * time.Second)
		}, []string{"RUN_STARTED@4-1/1 a@4-2/1 b@4-3/1", "c@4-4/1"}, 3 * time.Second},
		{"a commit", 3 * time.Second, nil, func(w writing) {
			w.says("a")
			_ = w.commits(2, func() {})
		}, []string{"RUN_STARTED@4-1/1 a@4-2/1", "before@4-3/1 after@4-4/2"}, 3 * time.Second},
		{"the end", 3 * time.Second, nil, func(w writing) {
			ends(w)
		}, []string{"RUN_STARTED@4-1/1", "end RUN_FINISHED@4-2/1 for 1m0s"}, 3 * time.Second},
		{"a failure", time.Second, errRefused, func(w writing) {
			w.says("a")
			ends(w)
		}, []string{"end RUN_FINISHED@4-3/1 for 0s"}, time.Second},
		{"a store that hangs", time.Hour, nil, func(w writing) {
			w.says("a")
			ends(w)
		}, []string{"end RUN_FINISHED@4-3/1 for 0s"}, streamTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWriting(t)
				w.Live = &slowSink{sink: w.out, takes: c.takes, fails: c.fails}
				began := time.Now()
				var opened []time.Duration
				w.Open(t.Context(), wire.StreamStarted{}, func() { opened = append(opened, time.Since(began)) })
				if !time.Now().Equal(began) {
					t.Error("Open waits for the stream")
				}
				c.do(w)
				synctest.Wait()
				w.wrote(c.want...)
				if !slices.Equal(opened, []time.Duration{c.opened}) {
					t.Errorf("opened is called after %v, want %s", opened, c.opened)
				}
			})
		})
	}
}
