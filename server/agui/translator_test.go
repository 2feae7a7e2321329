package agui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

var update = flag.Bool("update", false, "write testdata again")

// png is an image of one pixel.
var png = func() []byte {
	b, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	if err != nil {
		panic(err)
	}
	return b
}()

var key = spool.ThreadKey{Tenant: "acme", ID: "t"}

// scene is a thread in a bubble of fake time.
type scene struct {
	t      *testing.T
	engine *engine.Engine
	bus    *quietBus
}

// quietBus wakes nobody while it is quiet.
type quietBus struct {
	store.Live

	quiet atomic.Bool
}

func (b *quietBus) Wake(topic spool.ThreadKey, kind store.WakeKind, notice []byte) {
	if !b.quiet.Load() {
		b.Live.Wake(topic, kind, notice)
	}
}

// together does something that consists of several commits, and wakes the clients only for the last.
func (s *scene) together(do func(), last store.WakeKind) {
	s.bus.quiet.Store(true)
	do()
	s.bus.quiet.Store(false)
	s.bus.Wake(key, last, nil)
}

func newScene(t *testing.T, model spool.Model) *scene {
	t.Helper()

	send := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "send"}, Approval: spool.AlwaysApprove,
		Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
			return json.RawMessage(`"sent"`), nil
		},
	}
	lookup := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "lookup"},
		Call: func(_ context.Context, c spool.ToolCall) (json.RawMessage, error) {
			return c.Args, nil
		},
	}
	urgent := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "urgent"}, Approval: spool.AlwaysApprove, Call: send.Call,
		Expiry: spool.Expiry{Then: spool.ExpireFail, TTL: 3 * time.Second, Warn: -1},
	}
	soon, longer := urgent, urgent
	soon.Name, soon.Expiry.Then = "soon", spool.ExpireDeny
	longer.Name, longer.Expiry.Then, longer.Expiry.Extensions = "longer", spool.ExpireExtend, 1
	hang := spool.Tool{
		ToolSpec: spool.ToolSpec{Name: "hang"},
		Call: func(ctx context.Context, _ spool.ToolCall) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}
	backend := memory.New(nil)
	bus := &quietBus{Live: engine.NewLive(0)}
	backend.Live = bus
	e, err := engine.New(backend, engine.Config{
		Agents: []spool.Agent{{
			Name: "a", Model: "m", Tools: []spool.Tool{send, urgent, soon, longer, lookup, hang},
			Spawn: &spool.Spawn{Profiles: map[string]spool.Profile{"mailer": {Tools: []spool.Tool{send}}}},
		}},
		Models: map[string]spool.Model{"m": model}, Stream: option.Stream{FlushEvery: -1}, ParkTTL: 15 * time.Minute,
	})
	if err != nil {
		t.Fatal(err)
	}
	return &scene{t, e, bus}
}

func (s *scene) work() (stop func()) { return s.workWith(engine.WorkOptions{}) }

func (s *scene) workWith(o engine.WorkOptions) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.engine.Work(ctx, o) }()
	return func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	}
}

func (s *scene) run(id spool.RunID, prompt string) {
	s.t.Helper()
	if got, err := s.engine.Run(
		s.t.Context(), key, wire.StartRequest{Prompt: prompt, RunID: id, ClientMessageID: "turn-of-" + string(id)},
	); err != nil || !got.Accepted {
		s.t.Fatal(got, err)
	}
}

func (s *scene) answer(id spool.ToolCallID, approved bool) {
	s.t.Helper()
	if got, err := s.engine.Respond(s.t.Context(), key, wire.Response{ToolCallID: id, Approved: approved}); err != nil ||
		!got.Delivered {
		s.t.Fatal(got, err)
	}
}

func (s *scene) stop() {
	s.t.Helper()
	if got, err := s.engine.Stop(s.t.Context(), key); err != nil || !got.Accepted {
		s.t.Fatal(got, err)
	}
}

func (s *scene) snapshot() *wire.FormedSnapshot {
	s.t.Helper()
	snap, err := s.engine.FormedSnapshot(s.t.Context(), key, form)
	if err != nil {
		s.t.Fatal(err)
	}
	return snap
}

// viewer is a client that follows a thread from now on.
type viewer struct {
	scene      *scene
	translator *agui.Translator
	text       []byte
	verifier   verifier
	cancel     context.CancelFunc
	over       chan struct{}
}

func address(thread spool.ThreadID, id spool.ArtifactID) string {
	return "/read/" + string(id) + "?of=" + string(thread)
}

var form = agui.NewForm(address)

// watch has a client come, who has the cursor.
func (s *scene) watch(o agui.Options, have *wire.Cursor) *viewer {
	s.t.Helper()

	o.Address = address
	o.Load = func() (*wire.FormedSnapshot, error) {
		return s.engine.FormedSnapshot(context.Background(), key, form)
	}
	v := &viewer{scene: s, translator: agui.New(o), over: make(chan struct{})}
	first := s.snapshot()
	at := first.Cursor()
	events, err := v.translator.Prelude(first, have)
	v.take(at.String(), events, err)
	var ctx context.Context
	ctx, v.cancel = context.WithCancel(context.Background())
	go func() {
		defer close(v.over)
		follower, err := s.engine.FollowFormed(ctx, key, wire.FollowOptions{Cursor: &at}, form)
		if err != nil {
			return
		}
		for frames, err := range follower.Frames(ctx, 0) {
			if err != nil {
				return
			}
			for _, frame := range frames {
				id := ""
				if frame.Cursor != nil {
					id = frame.Cursor.String()
				}
				events, err := v.translator.Frame(frame)
				if v.take(id, events, err); v.translator.Done() {
					return
				}
			}
		}
	}()
	synctest.Wait()
	return v
}

func (v *viewer) take(id string, events []agui.Event, err error) {
	for _, e := range events {
		if err == nil {
			err = v.verifier.see(e)
		}
	}
	if err == nil {
		var text agui.Text
		err = text.Add(id, events...)
		v.text = append(v.text, bytes.Join(text.Pieces(), nil)...)
	}
	if err != nil {
		v.scene.t.Errorf("%v after\n%s", err, v.text)
	}
}

// seen has the client go, and returns what it has seen.
func (v *viewer) seen() []byte {
	v.cancel()
	<-v.over
	return v.text
}

// backoff is the wait for the next attempt, which is not the same twice.
var backoff = regexp.MustCompile(`"retryAfterMs":[0-9]+`)

// savedID is the id of a saved message, and artifactID that of a file.
var (
	savedID    = regexp.MustCompile(`msg_[0-9a-z]{26}`)
	artifactID = regexp.MustCompile(`art_[0-9a-f]{32}`)
)

func golden(t *testing.T, name string, got []byte) {
	t.Helper()

	got = backoff.ReplaceAll(got, []byte(`"retryAfterMs":"..."`))
	got = savedID.ReplaceAll(got, []byte("msg_..."))
	got = artifactID.ReplaceAll(got, []byte("art_..."))
	file := filepath.Join("testdata", name+".sse")
	if *update {
		if err := os.WriteFile(file, got, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: -want +got\n%s", file, diff)
	}
}

// settle lets everything happen that takes up to a time.
func settle(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func failing(status int) error { return &spool.ModelError{Status: status, Message: "gone"} }

// What a client sees of whole runs, from before their start.
func TestGolden(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		turns []spooltest.Turn
		play  func(s *scene)
	}{
		"text": {
			[]spooltest.Turn{
				{Reasoning: []string{"h", "m"}, Text: []string{"a <b>", "\n\u4e16"}, Usage: spooltest.Tokens(3, 4)},
			},
			nil,
		},
		"tools": {[]spooltest.Turn{
			{
				Text:  []string{"Look."},
				Calls: []spooltest.Call{{ID: "c1", Name: "lookup", Args: `{"n":1}`}, {ID: "c2", Name: "nothing", Args: "no json"}},
			},
			spooltest.Use(spooltest.Call{ID: "c3", Name: "lookup"}),
			spooltest.Say("Done."),
		}, nil},
		"sources": {[]spooltest.Turn{
			{
				Text: []string{"Look."}, Sources: []spool.Source{{Title: "report.pdf"}},
				Calls: []spooltest.Call{
					{ID: "c1", Name: "lookup", Args: `{"sources":[{"url":"https://example.com/b","title":"B"}]}`},
				},
			},
			{
				Text:    []string{"Done."},
				Sources: []spool.Source{{URL: "https://example.com/a", Title: "A", Spans: []spool.Span{{Start: 0, End: 4}}}},
			},
		}, nil},
		"files": {[]spooltest.Turn{
			{
				Text:  []string{"Look."},
				Files: []spool.FileMade{{Name: "a.csv", MediaType: "text/csv", Data: []byte("a,b\n")}},
				Calls: []spooltest.Call{{ID: "c1", Name: "lookup"}},
			},
			{Files: []spool.FileMade{{MediaType: "image/png", Data: png}}},
		}, nil},
		"park": {[]spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "c1", Name: "send", Args: `{"to":"ann"}`}, spooltest.Call{ID: "c2", Name: "send"}),
			spooltest.Say("Sent."),
		}, func(s *scene) {
			s.answer("c1", true)
			settle(time.Second)
			s.answer("c2", false)
		}},
		"expires": {
			[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("Too late.")},
			func(*scene) {
				settle(time.Hour)
			},
		},
		"nested": {[]spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "s1", Name: spool.SpawnTool, Args: `{"name":"mailer","instructions":"Mail ann."}`}),
			{Text: []string{"I write."}, Calls: []spooltest.Call{{ID: "c1", Name: "send", Args: `{"to":"ann"}`}}},
			spooltest.Say("Written."), spooltest.Say("Done."),
		}, func(s *scene) { s.answer("c1-dg29gg", true) }},
		"retry": {[]spooltest.Turn{
			{Reasoning: []string{"x"}, Text: []string{"not said"}, Err: failing(503)},
			{Reasoning: []string{"y"}, Text: []string{"said"}},
		}, func(*scene) { settle(time.Minute) }},
		"error": {[]spooltest.Turn{{Text: []string{"not said"}, Err: failing(400)}}, nil},
		"stop": {
			[]spooltest.Turn{{Text: []string{"said"}, Calls: []spooltest.Call{{ID: "c1", Name: "hang"}}}}, (*scene).stop,
		},
		"stop-parked": {
			[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"}), spooltest.Say("Again.")},
			func(s *scene) {
				s.stop()
				settle(time.Second)
				s.run("r2", "next")
			},
		},
		// Nobody starts anything after these two: what closes the call is told at once.
		"stop-parked-alone": {[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})}, (*scene).stop},
		"expires-fails": {[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "urgent"})}, func(*scene) {
			settle(time.Minute)
		}},
		// One of two calls expires: the client may answer the other one alone.
		"expires-one": {[]spooltest.Turn{
			spooltest.Use(spooltest.Call{ID: "c1", Name: "soon"}, spooltest.Call{ID: "c2", Name: "send"}),
			spooltest.Say("Sent."),
		}, func(s *scene) {
			settle(time.Minute)
			s.answer("c2", true)
		}},
		"extends": {
			[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "longer"}), spooltest.Say("Sent.")},
			func(s *scene) {
				settle(3 * time.Second)
				s.answer("c1", true)
			},
		},
		"steer": {[]spooltest.Turn{
			slowly(spooltest.Use(spooltest.Call{ID: "c1", Name: "lookup"})), slowly(spooltest.Say("Left.")),
		}, func(s *scene) {
			s.steer("r2", "left")
			settle(9 * time.Second)
		}},
		"stop-waits": {[]spooltest.Turn{{Err: failing(503)}}, (*scene).stop},
		"deleted": {[]spooltest.Turn{spooltest.Use(spooltest.Call{ID: "c1", Name: "send"})}, func(s *scene) {
			s.together(func() { // it stops the run first
				if got, err := s.engine.DeleteThread(s.t.Context(), key); err != nil || !got.Accepted {
					s.t.Fatal(got, err)
				}
			}, store.WakeDeleted)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newScene(t, spooltest.NewModel(c.turns...))
				s.run("r1", "hello")
				v := s.watch(agui.Options{}, nil)
				stop := s.work()
				settle(time.Second)
				if c.play != nil {
					c.play(s)
				}
				settle(time.Second)
				stop()
				golden(t, name, v.seen())
			})
		})
	}
}

// A client that has seen the end of everything is told nothing until there is more.
func TestPreludeIsEmpty(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two")))
		s.run("r1", "hello")
		stop := s.work()
		settle(time.Second)
		all := s.snapshot().Cursor()
		v := s.watch(agui.Options{}, &all)
		settle(time.Second)
		if bytes.Contains(v.text, []byte("data:")) {
			t.Errorf("it was told\n%s", v.text)
		}
		before := all
		before.Seq--
		if w := s.watch(agui.Options{}, &before); !bytes.Contains(w.seen(), []byte("RUN_FINISHED")) {
			t.Errorf("one who lacks the end was told\n%s", w.text)
		}
		s.run("r2", "next")
		settle(time.Second)
		stop()
		golden(t, "back-for-more", v.seen())
	})
}

// A client of one run is told of that one, also while another one has the thread and when
// it is over before the client comes, and is then done.
func TestOneRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two")))
		s.run("r1", "hello")
		one := agui.Options{RunID: "r1", ClientRunID: "mine", State: agui.SharedState}
		v := s.watch(one, nil)
		stop := s.work()
		settle(time.Second)
		s.run("r2", "next")
		settle(time.Second)
		stop()
		if !v.translator.Done() {
			t.Error("it is not done")
		}
		golden(t, "one-run", v.seen())
		late := s.watch(one, nil)
		if !late.translator.Done() {
			t.Error("who comes late is not done")
		}
		golden(t, "one-run-late", late.seen())
	})
}
