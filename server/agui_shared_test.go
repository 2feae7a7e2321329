package server_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// wholeReads counts how often all messages of a thread are read.
type wholeReads struct {
	store.Store

	count atomic.Int64
}

func (s *wholeReads) View(ctx context.Context, key spool.ThreadKey, fn func(v store.View) error) error {
	return s.Store.View(ctx, key, func(v store.View) error { return fn(wholeReadsView{v, s}) })
}

type wholeReadsView struct {
	store.View

	store *wholeReads
}

func (v wholeReadsView) Messages(q store.MessageQuery) ([]spool.Message, error) {
	if q == (store.MessageQuery{}) {
		v.store.count.Add(1)
	}
	return v.View.Messages(q)
}

// hesitant is a model that says a word and waits with the rest until it is told.
type hesitant struct{ goOn chan struct{} }

func (m hesitant) Stream(ctx context.Context, _ spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		if !yield(spool.ReasoningDelta{Text: "Hm."}, nil) || !yield(spool.TextDelta{Text: "Well"}, nil) {
			return
		}
		select {
		case <-m.goOn:
			_ = yield(spool.TextDelta{Text: ", yes."}, nil) && yield(spool.Finish{Reason: spool.FinishStop}, nil)
		case <-ctx.Done():
			yield(nil, ctx.Err())
		}
	}
}

// serve serves what is in the backend to everybody.
func serve(t *testing.T, b store.Backend, m spool.Model) (e *engine.Engine, url string) {
	t.Helper()
	e, err := engine.New(b, engine.Config{
		Agents: []spool.Agent{{Name: "a", Model: "m", Tools: []spool.Tool{sendTool()}}},
		Models: map[string]spool.Model{"m": m}, Stream: option.Stream{FlushEvery: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(e, server.Config{Insecure: true})
	if err != nil {
		t.Fatal(err)
	}
	listening := httptest.NewServer(s)
	t.Cleanup(func() {
		within(t, "the server closes", func() {
			e.Close()
			listening.Close()
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	return e, listening.URL
}

// readTo reads an event stream up to an event that has the text.
func readTo(lines *bufio.Reader, text string) (string, error) {
	var got strings.Builder
	for found := false; ; {
		line, err := lines.ReadString('\n')
		if err != nil {
			return got.String(), fmt.Errorf("wait for %s: %w", text, err)
		}
		got.WriteString(line)
		found = found || strings.Contains(line, text)
		if found && line == "\n" {
			return got.String(), nil
		}
	}
}

// Two hundred clients of AG-UI that come to a large thread at once, while a run streams into
// it, have its messages read and encoded once, also for the run's end. Each gets, to the
// byte, what it would have got alone.
func TestAGUIClientsShareASnapshot(t *testing.T) {
	t.Parallel()
	const clients, large = 200, 100
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "t1"}
	b := memory.New(nil)
	db := &wholeReads{Store: b.Store}
	b.Store = db
	err := b.Store.Update(t.Context(), key, 0, func(tx store.Tx) error {
		c := store.Changes{Thread: &wire.Thread{State: wire.Idle}, Entries: []*wire.Entry{wire.NewEntry("note", "", nil)}}
		for i := range large {
			c.Messages = append(c.Messages, &spool.Message{
				ID: spool.MessageID(fmt.Sprintf("m%d", i)), Role: []spool.Role{spool.RoleUser, spool.RoleAssistant}[i%2],
				RunID: spool.RunID(fmt.Sprintf("old%d", i/2)), Content: spool.TextContent(strings.Repeat("<x>", 500)),
			})
		}
		return tx.Write(c)
	})
	if err != nil {
		t.Fatal(err)
	}
	model := hesitant{make(chan struct{})}
	e, url := serve(t, b, model)
	if got, err := e.Run(t.Context(), key, wire.StartRequest{Prompt: "hello", RunID: "r1"}); err != nil || !got.Accepted {
		t.Fatal(got, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	worked := make(chan error, 1)
	go func() { worked <- e.Work(ctx, engine.WorkOptions{}) }()
	t.Cleanup(func() {
		cancel()
		if err := receive(t, "the worker ends", worked); err != nil {
			t.Error(err)
		}
	})
	for frame, err := range e.Follow(patiently(t), key, wire.FollowOptions{}) { // until the run streams
		if err != nil {
			t.Fatal(err)
		}
		if frame.Kind == wire.FrameStream && frame.Item.Type == wire.ItemTextContent {
			break
		}
	}
	db.count.Store(0)

	queries := []string{"", "&cursor=0", "&cursor=1+r1:1+1-2", "&lastMessageId=m50", "&lastMessageId=m99&cursor=-1"}
	patient := patiently(t)
	// come returns what a client gets until it has come to the present, and calls then with
	// its stream.
	come := func(url, query string, then func(lines *bufio.Reader) error) (string, error) {
		r, err := http.NewRequestWithContext(patient, http.MethodGet, url+streamPath+"?threadId=t1&wireFormat=ag-ui"+query,
			nil)
		if err != nil {
			return "", err
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		lines := bufio.NewReader(answer.Body)
		got, err := readTo(lines, "TEXT_MESSAGE_START")
		return got, errors.Join(err, then(lines))
	}
	alone := make(map[string]string)
	for _, query := range queries {
		_, other := serve(t, b, model)
		if alone[query], err = come(other, query, func(*bufio.Reader) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if n := db.count.Load(); n != int64(len(queries)) || len(alone[""]) < large*1500 ||
		!strings.Contains(alone[""], `"content":"Well"`) {
		t.Fatalf("%d clients alone had all messages read %d times, and got %d bytes", len(queries), n, len(alone[""]))
	}
	db.count.Store(0)
	var all, here sync.WaitGroup
	here.Add(clients)
	for n := range clients {
		all.Go(func() {
			came := sync.OnceFunc(here.Done)
			defer came()
			query := queries[n%len(queries)]
			got, err := come(url, query, func(lines *bufio.Reader) error {
				came()
				_, err := readTo(lines, "RUN_FINISHED")
				return err
			})
			if err != nil || got != alone[query] {
				t.Errorf("client %d got %d bytes, and alone %d: %v", n, len(got), len(alone[query]), err)
			}
		})
	}
	here.Wait()
	close(model.goOn)
	all.Wait()
	if n := db.count.Load(); n != 1 {
		t.Errorf("%d clients had all messages read %d times", clients, n)
	}
}
