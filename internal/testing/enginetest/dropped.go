package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/wire"
)

// droppedTest is the fixture of the cases about files that a model does not get.
type droppedTest struct{ *engineTest }

var droppedTests = map[string]func(s droppedTest){
	"Once":     testDroppedOnce,
	"Nested":   testDroppedNested,
	"Attached": testDroppedAttached,
	"Withheld": testDroppedWithheld,
}

// dropped returns what the record says of files that models do not get, as lines.
func (s droppedTest) dropped() (lines []string) {
	s.Helper()
	names := make(map[spool.ArtifactID]string)
	for _, e := range s.entriesOf(chat) {
		var f wire.FileDropped
		if e.Type != wire.EntryFileDropped {
			continue
		}
		if err := json.Unmarshal(e.Payload, &f); err != nil {
			s.Fatal(err)
		}
		if f.ArtifactID != "" && !strings.Contains(f.Text, string(f.ArtifactID)) {
			s.Errorf("the text of %s is %q", f.ArtifactID, f.Text)
		}
		if _, known := names[f.ArtifactID]; !known && f.ArtifactID != "" {
			names[f.ArtifactID] = fmt.Sprintf("file%d", len(names)+1)
		}
		line := fmt.Sprintf("%s step %d %s", e.RunID, f.Step, f.Model)
		if f.AgentID != nil {
			line += " nested"
		}
		lines = append(lines, strings.TrimSpace(line+" "+names[f.ArtifactID]))
	}
	return lines
}

// testDroppedOnce has a tool that draws an image that is too large for the model, twice. The process dies when the
// model is asked for the last step. A later run of the thread, which does not get these images either, has entries
// for its own.
func testDroppedOnce(s droppedTest) {
	gate, asked := make(chan struct{}), make(chan struct{}, 4)
	c := s.config(spooltest.NewReplayModel(
		spooltest.Use(spooltest.Call{ID: "c1", Name: "draw"}), spooltest.Use(spooltest.Call{ID: "c2", Name: "draw"}),
		spooltest.Turn{
			Gate:   gate,
			Midway: func(context.Context) error { asked <- struct{}{}; return nil },
			Text:   []string{"done"},
		},
	), largeTool())
	c.Attachments.MaxBytes = len(drawing())
	p := s.process(c)
	s.start(p.Engine, "r1", "go")
	receive(s.engineTest, asked, bubbleWait, "the last step")
	p.kill()
	close(gate)
	e := s.working(c)
	s.ended(wire.Completed)
	s.startAs(e, chat, wire.StartRequest{Prompt: "again", RunID: "r2"})
	s.until("the second run", func() bool { return s.thread().RunID == "r2" && s.thread().State.Terminal() })
	s.lines("dropped", s.dropped(), "r1 step 2 m file1", "r1 step 3 m file2", "r2 step 2 m file3", "r2 step 3 m file4")
}

// testDroppedNested has a nested run that draws.
func testDroppedNested(s droppedTest) {
	c := nestedTest(s).treeConfig(casting(map[string][]spooltest.Turn{
		"go":   {spooltest.Use(spawn("c1", "helper", "find")), spooltest.Say("done")},
		"find": {spooltest.Use(spooltest.Call{ID: "c2", Name: "draw"}), spooltest.Say("drawn")},
	}), largeTool())
	c.Attachments.MaxBytes = len(drawing())
	s.start(s.working(c), "r1", "go")
	s.ended(wire.Completed)
	s.lines("dropped", s.dropped(), "r1 step 2 m nested file1")
}

// largeTool returns a tool that draws an image with more bytes than drawing.
func largeTool() spool.Tool { return drawTool("draw", make([]byte, 10)...) }

// testDroppedAttached has an image that is too large for the model, and is attached twice, in two steps.
func testDroppedAttached(s droppedTest) {
	c := s.config(calls(spooltest.Call{ID: "c1", Name: "look"}), plain("look", `"seen"`))
	c.Attachments.MaxBytes = len(drawing())
	e := s.engine(c)
	s.start(e, "r1", "go")
	a, err := e.SaveArtifact(context.Background(), chat,
		spool.NewArtifact{MediaType: "image/png", Data: bytes.NewReader(append(drawing(), 1))})
	if err != nil {
		s.Fatal(err)
	}
	s.work(e)
	s.ended(wire.Completed)
	s.startAs(e, chat, wire.StartRequest{
		Prompt: "look", RunID: "r2", Attachments: []wire.Attachment{{ArtifactID: a.ID}, {ArtifactID: a.ID}},
	})
	s.until("the second run", func() bool { return s.thread().RunID == "r2" && s.thread().State.Terminal() })
	s.lines("dropped", s.dropped(), "r2 step 1 m file1")
}

// testDroppedWithheld has a model whose server refuses the files of all results, in three steps.
func testDroppedWithheld(s droppedTest) {
	m := calls(spooltest.Call{ID: "c1", Name: "draw"}, spooltest.Call{ID: "c2", Name: "draw"})
	e := s.working(s.config(withholding{m}, drawTool("draw")))
	s.start(e, "r1", "go")
	s.ended(wire.Completed)
	s.lines("dropped", s.dropped(), "r1 step 2 m")
}

// withholding sends no files of results.
type withholding struct{ spool.Model }

func (w withholding) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		has := slices.ContainsFunc(r.Messages, func(m spool.Message) bool { return m.Role == spool.RoleTool })
		if has && !yield(spool.FilesWithheld{Text: fmt.Sprintf("[not shown in %d messages]", len(r.Messages))}, nil) {
			return
		}
		w.Model.Stream(ctx, r)(yield)
	}
}
