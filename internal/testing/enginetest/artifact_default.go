package enginetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// artifactDefaultTest is the fixture of the cases about files of an engine without a configured store.
type artifactDefaultTest struct{ *engineTest }

var artifactDefaultTests = map[string]func(s artifactDefaultTest){
	"Kept":    testDefaultKept,
	"Bounded": testDefaultBounded,
	"Inline":  testDefaultInline,
	"Foreign": testDefaultForeign,
	"Crashed": testDefaultCrashed,
	"Forked":  testDefaultForked,
}

// drawTool returns a tool that saves a drawing, and that says what became of it.
func drawTool(name string, more ...byte) spool.Tool {
	draw := plain(name, "")
	draw.Idempotent = true
	draw.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		a, err := call.SaveArtifact(ctx, name+".png", "image/png", bytes.NewReader(append(drawing(), more...)))
		if err != nil {
			return nil, err
		}
		return mustMarshal(map[string]any{"artifact": a}), nil
	}
	return draw
}

// listed returns the artifacts of the thread.
func (s artifactDefaultTest) listed(e *engine.Engine, key spool.ThreadKey) []spool.Artifact {
	s.Helper()
	all, err := e.Artifacts(context.Background(), key)
	if err != nil {
		s.Fatal(err)
	}
	return all
}

// rows returns how many rows of files the store has.
func (s artifactDefaultTest) rows() (n int) {
	s.Helper()
	for _, kind := range []string{
		"blob", "blob_part", "blob_upload", "artifact", "artifact_blob", "artifact_thread", "artifact_upload",
		"artifact_garbage",
	} {
		q := store.RowQuery{Kind: kind, Limit: 100}
		if strings.HasPrefix(kind, "artifact") {
			q.Tenant = chat.Tenant
		}
		all, err := s.backend.Store.Rows(context.Background(), q)
		if err != nil {
			s.Fatal(err)
		}
		n += len(all)
	}
	return n
}

// testDefaultKept has a tool that draws an image. The model sees it, a caller reads it, and nothing of it is left
// behind the thread.
func testDefaultKept(s artifactDefaultTest) {
	ctx := context.Background()
	m := calls(spooltest.Call{ID: "c1", Name: "draw"})
	e := s.working(s.config(m, drawTool("draw")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	got := artifactUseTest(s).lastResult(m, 1)
	want := "data:image/png;base64," + base64.StdEncoding.EncodeToString(drawing())
	if len(got) != 2 || got[1].Type != spool.PartImage || got[1].Image != want {
		s.Errorf("the model got %+v", got)
	}
	for _, message := range s.messagesOf(chat) {
		if b := mustMarshal(message); bytes.Contains(b, []byte("base64")) {
			s.Errorf("the thread has the data: %s", b)
		}
	}
	all := s.listed(e, chat)
	if len(all) != 1 || all[0].Name != "draw.png" || all[0].MediaType != "image/png" || e.MaxArtifactBytes() != 4<<20 {
		s.Fatalf("the thread has %+v", all)
	}
	_, data, err := e.OpenArtifact(ctx, chat, all[0].ID)
	if err != nil {
		s.Fatal(err)
	}
	if read, err := io.ReadAll(data); err != nil || !bytes.Equal(read, drawing()) {
		s.Errorf("read %q, %v", read, err)
	}
	if _, _, err := e.OpenArtifact(
		ctx, spool.ThreadKey{Tenant: "umbrella", ID: chat.ID}, all[0].ID,
	); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("another tenant: %v", err)
	}
	if result, err := e.DeleteThread(ctx, chat); err != nil || !result.Accepted {
		s.Fatalf("delete: %+v, %v", result, err)
	}
	if n := s.rows(); n != 0 {
		s.Errorf("%d rows are left of a thread that is gone", n)
	}
}

// testDefaultBounded saves files that are too large, too many, and too large together.
func testDefaultBounded(s artifactDefaultTest) {
	m := calls(
		spooltest.Call{ID: "c1", Name: "large"}, spooltest.Call{ID: "c2", Name: "one"}, spooltest.Call{ID: "c3", Name: "two"},
		spooltest.Call{ID: "c4", Name: "one"}, spooltest.Call{ID: "c5", Name: "three"},
	)
	size := len(drawing())
	c := s.config(m, drawTool("large", make([]byte, 1000)...), drawTool("one", 1), drawTool("two", make([]byte, 600)...),
		drawTool("three", 1, 2, 3))
	c.Limits.FileBytes, c.Limits.ThreadFileBytes, c.Limits.ThreadFiles = 1000, 700, 2
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	var got []string
	for n := range 5 {
		got = append(got, string(artifactUseTest(s).lastResult(m, n+1)[0].Result))
	}
	tooLarge := `"error: the artifact is larger than 1000 bytes"`
	together := fmt.Sprintf(`"error: the files of the thread have %d of at most 700 bytes, and %d more have no room"`,
		size+1, size+600)
	if got[0] != tooLarge || got[2] != together || !strings.Contains(got[1], `"artifact"`) ||
		!strings.Contains(got[3], `"artifact"`) {
		s.Errorf("the tools got %s", got)
	}
	if got[4] != `"error: the thread has 2 files, and no room for more"` || len(s.listed(e, chat)) != 2 {
		s.Errorf("the last tool got %s, and the thread has %+v", got[4], s.listed(e, chat))
	}
}

// testDefaultInline has a large result and a large attachment. Both stay in their messages, which they would leave
// with a configured store.
func testDefaultInline(s artifactDefaultTest) {
	m := calls(spooltest.Call{ID: "c1", Name: "dump"})
	e := s.working(s.config(m, plain("dump", string(mustMarshal(strings.Repeat("x", 100<<10))))))
	data := "data:text/csv;base64," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a,b\n", 20<<10)))
	s.startAs(e, chat, wire.StartRequest{Prompt: "look", RunID: "r1", Attachments: []wire.Attachment{{URL: data}}})
	s.ended(wire.Completed)
	if got := artifactUseTest(s).lastResult(m, 1)[0].Result; len(got) != 100<<10+2 {
		s.Errorf("the model read %d bytes", len(got))
	}
	if got := s.messagesOf(chat)[0].Content[1].File; got != data || len(s.listed(e, chat)) != 0 {
		s.Errorf("the turn has %.100s", got)
	}
}

// testDefaultForeign has a tool that opens the files of other threads and tenants, by their ids.
func testDefaultForeign(s artifactDefaultTest) {
	ctx := context.Background()
	var opened []error
	var ids atomic.Value
	look := plain("look", "")
	look.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		id, _ := ids.Load().(spool.ArtifactID)
		for _, text := range []string{string(id), id.URI(), "art_none", "", "../" + string(id)} {
			_, _, err := call.OpenArtifact(ctx, text)
			opened = append(opened, err)
		}
		return nil, nil
	}
	m := calls(spooltest.Call{ID: "c1", Name: "look"})
	e := s.working(s.config(m, look))
	for _, key := range []spool.ThreadKey{{Tenant: chat.Tenant, ID: "other"}, {Tenant: "umbrella", ID: chat.ID}} {
		s.startAs(e, key, wire.StartRequest{Prompt: "go"})
		s.until("the other thread", func() bool { return s.threadOf(key).State.Terminal() })
		a, err := e.SaveArtifact(ctx, key, spool.NewArtifact{Data: strings.NewReader("secret " + string(key.Tenant))})
		if err != nil {
			s.Fatal(err)
		}
		ids.Store(a.ID)
		opened = nil
		mine := spool.ThreadKey{Tenant: chat.Tenant, ID: "mine-" + spool.ThreadID(key.Tenant)}
		s.startAs(e, mine, wire.StartRequest{Prompt: "go"})
		s.until("the thread", func() bool { return s.threadOf(mine).State.Terminal() })
		for _, err := range opened {
			if spool.CodeOf(err) != spool.NotFound || strings.Contains(spool.MessageOf(err), "secret") {
				s.Errorf("of %v: %v", key, err)
			}
		}
	}
}

// testDefaultCrashed kills the process between the save of a file and the step. The repeated call has the same file.
func testDefaultCrashed(s artifactDefaultTest) {
	gate, saved := make(chan struct{}), make(chan struct{}, 1)
	var times atomic.Int64
	draw := drawTool("draw")
	call := draw.Call
	draw.Call = func(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
		result, err := call(ctx, c)
		if times.Add(1) == 1 {
			saved <- struct{}{}
			<-gate
		}
		return result, err
	}
	c := s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "draw"}), spooltest.Say("done")),
		draw)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s.engineTest, saved, bubbleWait, "the file")
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		p.kill()
	}()
	<-time.After(time.Second)
	close(gate)
	<-killed
	e := s.working(c)
	s.ended(wire.Completed)
	if all := s.listed(e, chat); len(all) != 1 || times.Load() != 2 {
		s.Errorf("%d calls made %+v", times.Load(), all)
	}
}

// testDefaultForked forks a thread with a file. The fork has a copy, which stays when the thread goes.
func testDefaultForked(s artifactDefaultTest) {
	f := forkTest(s)
	e := s.working(s.config(calls(spooltest.Call{ID: "c1", Name: "draw"}), drawTool("draw")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	f.fork(e, f.versionWith(e, 4))
	if r, err := e.DeleteThread(context.Background(), chat); err != nil || !r.Accepted {
		s.Fatal(r, err)
	}
	all := s.listed(e, forkedChat)
	if len(all) != 1 {
		s.Fatalf("the fork has %+v", all)
	}
	named := artifactUseTest(s).artifactOf(s.messagesOf(forkedChat)[2].Content[0].Result)
	_, data, err := e.OpenArtifact(context.Background(), forkedChat, named.ID)
	if err != nil {
		s.Fatal(err)
	}
	if read, err := io.ReadAll(data); err != nil || !bytes.Equal(read, drawing()) {
		s.Errorf("read %q, %v", read, err)
	}
}
