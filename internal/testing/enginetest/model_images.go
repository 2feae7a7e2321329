package enginetest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// modelImageTest is the fixture of the cases about images and files that a model makes.
type modelImageTest struct{ *engineTest }

var modelImageTests = map[string]func(s modelImageTest){
	"Saved":    testModelImageSaved,
	"NotSaved": testModelImageNotSaved,
	"Many":     testModelImageMany,
	"Crashed":  testModelImageCrashed,
	"Called":   testModelImageCalled,
}

// pngMade is a drawing that a model makes.
func pngMade(more ...byte) spool.FileMade {
	return spool.FileMade{MediaType: "image/png", Data: append(drawing(), more...)}
}

// shownFiles returns the files of the stream, and whether each came before the end of its step.
func shownFiles(frames []wire.Frame) (files []wire.FileShown, early bool) {
	early = true
	finished := false
	for _, f := range frames {
		if f.Kind != wire.FrameStream {
			continue
		}
		switch f.Item.Type { //nolint:exhaustive // the others say nothing of files
		case wire.ItemStepFinished:
			finished = true
		case wire.ItemFile:
			var file wire.FileShown
			early = early && !finished && f.Item.Decode(&file) == nil
			files = append(files, file)
		}
	}
	return files, early
}

// testModelImageSaved has a model that makes an image and a file that is none. Messages and streams have their URIs,
// the model gets them back with the next turn, and the provider its data.
func testModelImageSaved(s modelImageTest) {
	data := json.RawMessage(`{"paper":{"n":1}}`)
	image := pngMade()
	image.Provider = data
	m := spooltest.NewModel(
		spooltest.Turn{
			Text:  []string{"Look:"},
			Files: []spool.FileMade{image, {Name: "a.png", MediaType: "image/png", Data: []byte("a,b\n")}},
		},
		spooltest.Say("Yes."),
	)
	e := s.engine(s.config(m))
	s.start(e, "r1", "draw")
	client := s.watch(e, &spooltest.Client{Name: "live", FromStart: true}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	content := s.messagesOf(chat)[1].Content
	all, err := e.Artifacts(context.Background(), chat)
	if err != nil || len(all) != 2 || len(content) != 3 {
		s.Fatalf("the answer is %+v with %+v, %v", content, all, err)
	}
	if p := content[1]; p.Type != spool.PartImage || !strings.HasPrefix(p.Image, "artifact:art_") ||
		p.MIMEType != "image/png" || string(p.Provider) != string(data) {
		s.Errorf("the image is %+v", p)
	}
	if p := content[2]; p.Type != spool.PartFile || !strings.HasPrefix(p.File, "artifact:art_") ||
		p.MIMEType != "text/plain" || p.FileName != "a.png" {
		s.Errorf("the file is %+v", p)
	}
	<-time.After(quiet)
	frames := client()
	want := []wire.FileShown{
		{Image: content[1].Image, MIMEType: "image/png"},
		{File: content[2].File, MIMEType: "text/plain", FileName: "a.png"},
	}
	if got, early := shownFiles(frames); !slices.Equal(got, want) || !early {
		s.Errorf("the stream has %+v", got)
	}
	for _, f := range frames {
		if b := mustMarshal(f); bytes.Contains(b, []byte("paper")) || bytes.Contains(b, []byte("base64")) {
			s.Errorf("a client got %s", b)
		}
	}
	s.startAs(e, chat, wire.StartRequest{Prompt: "see it?", RunID: "r2"})
	s.until("the second answer", func() bool { return m.Asked() == 2 && s.thread().State.Terminal() })
	asked := m.Requests()[1].Messages[1].Content
	if url := "data:image/png;base64," + base64.StdEncoding.EncodeToString(drawing()); asked[1].Image != url ||
		string(asked[1].Provider) != string(data) {
		s.Errorf("the model got %+v", asked)
	}
}

// testModelImageNotSaved has images that cannot be saved: one is too large, one is empty, and the third one is of an
// engine that keeps no files. The answer says so, and stays an answer.
func testModelImageNotSaved(s modelImageTest) {
	m := spooltest.NewModel(
		spooltest.Turn{Files: []spool.FileMade{pngMade(make([]byte, 1000)...), {MediaType: "image/png"}}},
		spooltest.Turn{Files: []spool.FileMade{pngMade()}},
	)
	c := s.config(m)
	c.Limits.FileBytes = 500
	first := s.engine(c)
	stop := s.work(first)
	s.start(first, "r1", "draw")
	s.ended(wire.Completed)
	stop()
	want := fmt.Sprintf(
		"[an image of %d bytes, which was not saved: the artifact is larger than 500 bytes][an image of 0 bytes, which was not saved: it has no data]",
		len(drawing())+1000,
	)
	if got := s.messagesOf(chat)[1].Text(); got != want {
		s.Errorf("the answer is %q, want %q", got, want)
	}
	c.Limits.FileBytes = -1
	s.startAs(s.working(c), chat, wire.StartRequest{Prompt: "again", RunID: "r2"})
	s.until("the second answer", func() bool { return m.Asked() == 2 && s.thread().State.Terminal() })
	if got := s.messagesOf(chat)[3].Text(); got != fmt.Sprintf(
		"[an image of %d bytes, which was not saved: the engine does not store artifacts]", len(drawing()),
	) {
		s.Errorf("the second answer is %q", got)
	}
}

// testModelImageMany has an answer with more images than an answer may have.
func testModelImageMany(s modelImageTest) {
	var files []spool.FileMade
	for n := range 18 {
		files = append(files, pngMade(byte(n)))
	}
	e := s.working(s.config(spooltest.NewModel(spooltest.Turn{Files: files})))
	s.start(e, "r1", "draw")
	s.ended(wire.Completed)
	content := s.messagesOf(chat)[1].Content
	images := 0
	for _, p := range content {
		if p.Type == spool.PartImage {
			images++
		}
	}
	if images != 16 || strings.Count(content.Text(), "an answer may have 16 files") != 1 {
		s.Errorf("%d images, and %q", images, content.Text())
	}
}

// testModelImageCrashed kills the process when the image is saved and the step is not. The answer that is asked for
// again has the same image, once.
func testModelImageCrashed(s modelImageTest) {
	gate, saved := make(chan struct{}), make(chan struct{}, 8)
	turn := spooltest.Turn{
		Text: []string{"Look:"}, Files: []spool.FileMade{pngMade()}, Gate: gate,
		Midway: func(context.Context) error {
			saved <- struct{}{}
			return nil
		},
	}
	c := s.config(spooltest.NewReplayModel(turn))
	p := s.process(c)
	s.start(p.Engine, "r1", "draw")
	receive(s.engineTest, saved, bubbleWait, "the image")
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
	content := s.messagesOf(chat)[1].Content
	all, err := e.Artifacts(context.Background(), chat)
	if err != nil || len(all) != 1 || len(content) != 2 || content[1].Image != all[0].ID.URI() {
		s.Errorf("the answer is %+v with %+v, %v", content, all, err)
	}
}

// testModelImageCalled has an answer with an image and a call, whose worker dies while the tool runs. The next stream
// has the image again.
func testModelImageCalled(s modelImageTest) {
	gate, called := make(chan struct{}), make(chan struct{}, 8)
	slow := plain("slow", "")
	slow.Idempotent = true
	slow.Call = func(context.Context, spool.ToolCall) (json.RawMessage, error) {
		called <- struct{}{}
		<-gate
		return nil, nil
	}
	c := s.config(
		spooltest.NewReplayModel(
			spooltest.Turn{Files: []spool.FileMade{pngMade()}, Calls: []spooltest.Call{{ID: "c1", Name: "slow"}}},
			spooltest.Say("done"),
		),
		slow,
	)
	p := s.process(c)
	s.start(p.Engine, "r1", "draw")
	receive(s.engineTest, called, bubbleWait, "the call")
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		p.kill()
	}()
	<-time.After(time.Second)
	close(gate)
	<-killed
	e := s.engine(c)
	client := s.watch(e, &spooltest.Client{Name: "live"}, wire.FollowOptions{})
	s.work(e)
	s.ended(wire.Completed)
	<-time.After(quiet)
	image := s.messagesOf(chat)[1].Content[0].Image
	if got, _ := shownFiles(client()); len(got) == 0 || got[0].Image != image || !strings.HasPrefix(image, "artifact:") {
		s.Errorf("the second stream has %+v, and the message %q", got, image)
	}
}
