package enginetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// artifactUseTest is the fixture of the cases about artifacts in turns, results and prompts.
type artifactUseTest struct{ *engineTest }

// stores returns the configuration with a store of artifacts.
func (s artifactUseTest) stores(c engine.Config) (engine.Config, *spooltest.Artifacts) {
	all := &spooltest.Artifacts{}
	c.Artifacts = all
	return c, all
}

// count returns how many artifacts the thread has.
func (s artifactUseTest) count(all *spooltest.Artifacts) int {
	s.Helper()
	list, err := all.Artifacts(context.Background(), chat)
	if err != nil {
		s.Fatal(err)
	}
	return len(list)
}

var artifactUseTests = map[string]func(s artifactUseTest){
	"LargeResult":  testArtifactLargeResult,
	"Repeated":     testArtifactRepeated,
	"File":         testArtifactFile,
	"Attached":     testArtifactAttached,
	"Foreign":      testArtifactForeign,
	"NotStored":    testArtifactNotStored,
	"EditedAround": testArtifactEditedAround,
	"Deleted":      testArtifactDeleted,
	"Compacted":    testArtifactCompacted,
}

// referenceBytes bounds what a large result adds to a snapshot.
const referenceBytes = 8 << 10

// calls returns a model that makes one call after the other, and then says "done".
func calls(all ...spooltest.Call) *spooltest.Model {
	turns := make([]spooltest.Turn, 0, len(all)+1)
	for _, c := range all {
		turns = append(turns, spooltest.Use(c))
	}
	return spooltest.NewModel(append(turns, spooltest.Say("done"))...)
}

// lastResult returns the last tool result of the n-th request.
func (s artifactUseTest) lastResult(m *spooltest.Model, n int) spool.Content {
	s.Helper()
	all := m.Requests()[n].Messages
	last := all[len(all)-1]
	if last.Role != spool.RoleTool {
		s.Fatalf("the last message of request %d is %+v", n, last)
	}
	return last.Content
}

// artifactOf returns the artifact that a result names.
func (s artifactUseTest) artifactOf(result json.RawMessage) spool.Artifact {
	s.Helper()
	var named struct{ Artifact spool.Artifact }
	if err := json.Unmarshal(result, &named); err != nil || named.Artifact.ID == "" {
		s.Fatalf("no artifact in %.200s: %v", result, err)
	}
	return named.Artifact
}

// testArtifactLargeResult has a tool with a result of 10 MB. The message has the beginning of it, and the model reads
// the end.
func testArtifactLargeResult(s artifactUseTest) {
	const size = 10 << 20
	long := strings.Repeat("0123456789", size/10-1) + "the end \u00e9"
	dump := plain("dump", string(mustMarshal(long)))
	m := spooltest.NewModelFunc(func(_ context.Context, r spool.ModelRequest) spooltest.Turn {
		switch last := r.Messages[len(r.Messages)-1]; {
		case last.Role == spool.RoleUser:
			return spooltest.Use(spooltest.Call{ID: "c1", Name: "dump"})
		case last.Content[0].ToolCallID == "c1":
			id := s.artifactOf(last.Content[0].Result).ID
			return spooltest.Use(spooltest.Call{
				ID: "c2", Name: spool.ArtifactTool, Args: fmt.Sprintf(`{"id":%q,"offset":%d,"limit":100}`, id, len(long)-9),
			})
		default:
			return spooltest.Say("read")
		}
	})
	c, _ := s.stores(s.config(m, dump))
	e := s.engine(c)
	s.start(e, "r1", "go")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	if tools := m.Requests()[0].Tools; len(tools) != 1 {
		s.Errorf("the first request has the tools %+v, but the thread has no artifact yet", tools)
	}
	a := s.artifactOf(s.lastResult(m, 1)[0].Result)
	if a.Size != int64(len(long)) || a.Name != "dump.txt" || !strings.HasPrefix(a.MediaType, "text/plain") {
		s.Errorf("the artifact is %+v", a)
	}
	want := fmt.Sprintf(`{"id":%q,"size":%d,"offset":%d,"text":"he end é"}`, a.ID, len(long), len(long)-9)
	if got := string(s.lastResult(m, 2)[0].Result); got != want {
		s.Errorf("the model read %s, want %s", got, want)
	}
	snap, err := e.Snapshot(context.Background(), chat, nil)
	if err != nil {
		s.Fatal(err)
	}
	if n := len(mustMarshal(snap)); n > referenceBytes {
		s.Errorf("the snapshot has %d bytes", n)
	}
	<-time.After(quiet)
	streamed := 0
	for _, f := range client() {
		streamed += len(mustMarshal(f))
	}
	if streamed > 2*referenceBytes {
		s.Errorf("the client got %d bytes", streamed)
	}
}

func mustMarshal(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}

// testArtifactRepeated kills the process while a tool that has saved a file runs. The repeated call saves it again.
func testArtifactRepeated(s artifactUseTest) {
	gate, saved := make(chan struct{}), make(chan struct{}, 1)
	var times atomic.Int64
	slow := plain("slow", "")
	slow.Idempotent = true
	slow.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		a, err := call.SaveArtifact(ctx, "a.txt", "text/plain", strings.NewReader("hello"))
		if times.Add(1) == 1 {
			saved <- struct{}{}
			<-gate
		}
		return mustMarshal(map[string]any{"artifact": a, "long": strings.Repeat("x", 100<<10)}), err
	}
	c, store := s.stores(
		s.config(spooltest.NewReplayModel(spooltest.Use(spooltest.Call{ID: "c1", Name: "slow"}), spooltest.Say("done")),
			slow),
	)
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s.engineTest, saved, bubbleWait, "the first artifact")
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		p.kill()
	}()
	<-time.After(time.Second)
	close(gate)
	<-killed
	s.working(c)
	s.ended(wire.Completed)
	if n := s.count(store); n != 2 || times.Load() != 2 {
		s.Errorf("%d artifacts of %d calls", n, times.Load())
	}
}

// drawing is a PNG of one pixel.
func drawing() []byte {
	var b bytes.Buffer
	one := image.NewPaletted(image.Rect(0, 0, 1, 1), color.Palette{color.Black})
	if err := png.Encode(&b, one); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// testArtifactFile has a tool that draws an image. The model sees it, and the thread has its name only.
func testArtifactFile(s artifactUseTest) {
	draw := plain("draw", "")
	draw.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		a, err := call.SaveArtifact(ctx, "a.png", "image/png", bytes.NewReader(drawing()))
		return mustMarshal(map[string]any{"artifact": a}), err
	}
	m := calls(spooltest.Call{ID: "c1", Name: "draw"})
	c, _ := s.stores(s.config(m, draw))
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	got := s.lastResult(m, 1)
	want := "data:image/png;base64," + base64.StdEncoding.EncodeToString(drawing())
	if len(got) != 2 || got[1].Type != spool.PartImage || got[1].Image != want {
		s.Errorf("the model got %+v", got)
	}
	tools := m.Requests()[1].Tools
	if len(tools) != 2 || tools[1].Name != spool.ArtifactTool {
		s.Errorf("the model has the tools %+v", tools)
	}
	for _, message := range s.messagesOf(chat) {
		if b := mustMarshal(message); bytes.Contains(b, []byte("base64")) {
			s.Errorf("the thread has the data: %s", b)
		}
	}
}

// testArtifactAttached attaches a large file by its data, and again by its id.
func testArtifactAttached(s artifactUseTest) {
	m := spooltest.NewModel(spooltest.Say("one"), spooltest.Say("two"))
	c, store := s.stores(s.config(m))
	e := s.working(c)
	data := "data:text/csv;base64," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a,b\n", 20<<10)))
	s.startAs(e, chat, wire.StartRequest{Prompt: "look", Attachments: []wire.Attachment{{URL: data, Name: "a.csv"}}})
	s.ended(wire.Completed)
	file := s.messagesOf(chat)[0].Content[1]
	id, ok := strings.CutPrefix(file.File, "artifact:")
	if !ok || file.FileName != "a.csv" || file.MIMEType != "text/csv" {
		s.Fatalf("the turn has %.200v", file)
	}
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "again", Attachments: []wire.Attachment{{ArtifactID: spool.ArtifactID(id), Name: "b.csv"}},
	})
	s.until("the second answer", func() bool { return m.Asked() == 2 && s.thread().State.Terminal() })
	if n := s.count(store); n != 1 {
		s.Errorf("%d artifacts", n)
	}
	for i, name := range []string{"a.csv", "b.csv"} {
		all := m.Requests()[i].Messages
		got := all[len(all)-1].Content[1]
		if got.File != data || got.FileName != name {
			s.Errorf("request %d has %.200v", i, got)
		}
	}
}

// testArtifactForeign attaches artifacts of another thread and of another tenant.
func testArtifactForeign(s artifactUseTest) {
	c, _ := s.stores(s.config(spooltest.NewModel(spooltest.Say("one"))))
	e := s.working(c)
	data := "data:text/csv;base64," + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a,b\n", 20<<10)))
	s.startAs(e, chat, wire.StartRequest{Prompt: "look", Attachments: []wire.Attachment{{URL: data}}})
	s.ended(wire.Completed)
	id := strings.TrimPrefix(s.messagesOf(chat)[0].Content[1].File, "artifact:")
	for _, key := range []spool.ThreadKey{{Tenant: "acme", ID: "other"}, {Tenant: "umbrella", ID: "chat"}} {
		for _, named := range []spool.ArtifactID{spool.ArtifactID(id), "art_none"} {
			_, err := e.Run(context.Background(), key,
				wire.StartRequest{Prompt: "x", Attachments: []wire.Attachment{{ArtifactID: named}}})
			if spool.CodeOf(err) != spool.Invalid ||
				spool.MessageOf(err) != "attachments[0].artifactId is no artifact of the thread" {
				s.Errorf("%s of %v: %v", named, key, err)
			}
		}
	}
}

// testArtifactNotStored has an engine that keeps no files. A tool that saves one is told so.
func testArtifactNotStored(s artifactUseTest) {
	var saved, opened error
	dump := plain("dump", "")
	dump.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		_, saved = call.SaveArtifact(ctx, "", "", strings.NewReader("x"))
		_, _, opened = call.OpenArtifact(ctx, "art_1")
		return nil, nil
	}
	c := s.config(calls(spooltest.Call{ID: "c1", Name: "dump"}), dump)
	c.Limits.FileBytes = -1
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	if !errors.Is(saved, spool.ErrNoArtifacts) || !errors.Is(opened, spool.ErrNoArtifacts) {
		s.Errorf("the tool got %v and %v", saved, opened)
	}
	_, err := e.Run(context.Background(), spool.ThreadKey{Tenant: "acme", ID: "other"},
		wire.StartRequest{Prompt: "x", Attachments: []wire.Attachment{{ArtifactID: "art_1"}}})
	if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), "attachments[0].artifactId") {
		s.Errorf("attached: %v", err)
	}
}

// testArtifactEditedAround edits a turn. The other branch keeps its artifact, and the model reads the new one's.
func testArtifactEditedAround(s artifactUseTest) {
	var n atomic.Int64
	draw := plain("draw", "")
	draw.Call = func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
		a, err := call.SaveArtifact(ctx, "a.txt", "text/plain", strings.NewReader(fmt.Sprintf("drawing %d", n.Add(1))))
		return mustMarshal(map[string]any{"artifact": a}), err
	}
	use := spooltest.Use(spooltest.Call{ID: "c1", Name: "draw"})
	m := spooltest.NewModel(use, spooltest.Say("one"), use, spooltest.Say("two"))
	c, store := s.stores(s.config(m, draw))
	e := s.working(c)
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	turn := s.messagesOf(chat)[0].ID
	s.startAs(e, chat, wire.StartRequest{Prompt: "again", RunID: "r2", EditMessageID: turn})
	s.until("the second answer", func() bool { return m.Asked() == 4 && s.thread().State.Terminal() })
	first, second := s.artifactOf(s.lastResult(m, 1)[0].Result), s.artifactOf(s.lastResult(m, 3)[0].Result)
	if first.ID == second.ID || s.count(store) != 2 {
		s.Errorf("the artifacts are %+v and %+v of %d", first, second, s.count(store))
	}
}

// testArtifactDeleted reads and attaches what a caller has saved, and deletes the thread.
func testArtifactDeleted(s artifactUseTest) {
	ctx := context.Background()
	c, store := s.stores(s.config(spooltest.NewModel(spooltest.Say("one"))))
	e := s.working(c)
	upload := func(key spool.ThreadKey) (spool.Artifact, error) {
		return e.SaveArtifact(ctx, key, spool.NewArtifact{
			Name: "../a.png", MediaType: "text/plain", Data: bytes.NewReader(drawing()),
		})
	}
	if _, err := upload(chat); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("before the thread: %v", err)
	}
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	a, err := upload(chat)
	if err != nil || a.Name != "a.png" || a.MediaType != "image/png" {
		s.Fatalf("uploaded %+v, %v", a, err)
	}
	if again, err := upload(chat); err != nil || again != a {
		s.Errorf("uploaded again %+v, %v", again, err)
	}
	if all, err := e.Artifacts(ctx, chat); err != nil || len(all) != 1 || all[0] != a {
		s.Errorf("the thread has %+v, %v", all, err)
	}
	_, data, err := e.OpenArtifact(ctx, chat, a.ID)
	if err != nil {
		s.Fatal(err)
	}
	if err := data.Close(); err != nil {
		s.Error(err)
	}
	if _, _, err := e.OpenArtifact(
		ctx, spool.ThreadKey{Tenant: "umbrella", ID: "chat"}, a.ID,
	); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("another tenant: %v", err)
	}
	if result, err := e.DeleteThread(ctx, chat); err != nil || !result.Accepted {
		s.Fatalf("delete: %+v, %v", result, err)
	}
	if n := s.count(store); n != 0 {
		s.Errorf("%d artifacts of a thread that is gone", n)
	}
	if _, _, err := e.OpenArtifact(ctx, chat, a.ID); spool.CodeOf(err) != spool.NotFound {
		s.Errorf("deleted: %v", err)
	}
}

// testArtifactCompacted summarises the turn that has an artifact. The summary is made of its id, and the model can
// read it.
func testArtifactCompacted(s artifactUseTest) {
	in := contextTest(s)
	m, sums := answering(100_000), summing()
	c, store := s.stores(in.contextConfig(m, sums))
	e := s.working(c)
	in.turns(e, "a")
	a, err := e.SaveArtifact(context.Background(), chat,
		spool.NewArtifact{Name: "a.csv", MediaType: "text/csv", Data: strings.NewReader("1,2")})
	if err != nil {
		s.Fatal(err)
	}
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "look", RunID: "r-look", Attachments: []wire.Attachment{{ArtifactID: a.ID}},
	})
	s.until("the answer", func() bool { return m.Asked() == 2 && s.thread().State.Terminal() })
	in.turns(e, "b", "c", "d", "e")
	if result := in.compact(e); !result.Compacted {
		s.Fatalf("the result is %+v", result)
	}
	if asked := promptText(sums.Requests()[0]); !strings.Contains(asked, "[file a.csv, "+string(a.ID)+"]") {
		s.Errorf("the summary is made of %s", asked)
	}
	in.turns(e, "f")
	last := m.Requests()[m.Asked()-1]
	if b := mustMarshal(last.Messages); bytes.Contains(b, []byte("base64")) || len(last.Tools) != 1 ||
		last.Tools[0].Name != spool.ArtifactTool {
		s.Errorf("the last request has the tools %+v and %s", last.Tools, b)
	}
	if n := s.count(store); n != 1 {
		s.Errorf("%d artifacts", n)
	}
}
