package loop

import (
	"bytes"
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/artifact"
	"github.com/spoolhq/spool/engine/internal/attach"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// droppedKey identifies a file and a model that does not get it. No artifact: the files of all results.
type droppedKey struct {
	artifact spool.ArtifactID
	model    string
}

// inline returns the request with the data of its files. The record gets the files of this run that the model does not
// get. Those of earlier runs are in the record of those.
func (a *asker) inline(ctx context.Context, r spool.ModelRequest) (spool.ModelRequest, error) {
	var dropped []wire.FileDropped
	prompt := attach.Prompt{Thread: a.run.Key(), Run: a.run.Row().Root(), Answers: record.Answers(a.run.Row())}
	prompt.Dropped = func(of spool.RunID, id spool.ArtifactID, text string) {
		if of == a.run.Row().ID || of == prompt.Run || of == prompt.Answers {
			dropped = append(dropped, wire.FileDropped{ArtifactID: id, Text: text})
		}
	}
	r, err := a.models.Attachments.Inline(ctx, r, prompt, a.images)
	if err != nil {
		return r, err
	}
	return r, a.recordDropped(ctx, dropped...)
}

// recordDropped appends the files that the model in use does not get to the record, once in a run.
func (a *asker) recordDropped(ctx context.Context, files ...wire.FileDropped) error {
	if len(files) == 0 {
		return nil
	}
	if err := a.readDropped(ctx); err != nil {
		return err
	}
	var fresh []wire.FileDropped
	for _, f := range files {
		f.Model = a.run.Row().ModelInUse()
		if key := (droppedKey{f.ArtifactID, f.Model}); !a.dropped[key] {
			a.dropped[key] = true
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := a.run.Commit(ctx, func(tx *thread.Tx) error {
		var entries []*wire.Entry
		for _, f := range fresh {
			f.Step, f.AgentID = a.run.Row().Steps+1, record.AgentOf(a.run.Row())
			entries = append(entries, wire.NewEntry(wire.EntryFileDropped, tx.Root().Run.ID, f))
		}
		return tx.Append(entries...)
	})
	if err != nil {
		a.dropped = nil // the next request reads the record again
		return err
	}
	for _, f := range fresh {
		a.run.Log().WarnContext(ctx, "the model does not get a file", "artifact", f.ArtifactID, "step", a.run.Row().Steps+1,
			"model", f.Model, "reads", f.Text)
	}
	return nil
}

// readDropped reads, once in a segment, which files the record of the run has.
func (a *asker) readDropped(ctx context.Context) error {
	if a.dropped != nil {
		return nil
	}
	dropped := make(map[droppedKey]bool)
	err := a.run.View(ctx, func(v store.View) error {
		entries, err := v.Entries(store.EntryQuery{Run: a.run.Row().Root(), Type: wire.EntryFileDropped})
		for _, e := range entries {
			var f wire.FileDropped
			if err := json.Unmarshal(e.Payload, &f); err != nil {
				return err
			}
			var of spool.AgentID
			if f.AgentID != nil {
				of = *f.AgentID
			}
			if of == a.run.Row().AgentID() {
				dropped[droppedKey{f.ArtifactID, f.Model}] = true
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	a.dropped = dropped
	return nil
}

// saveAnswerFile saves the n-th file of the model's answer. An answer that is read again, with the same data, has the
// same artifacts.
func (a *asker) saveAnswerFile(ctx context.Context, n int, file spool.FileMade) (spool.Part, error) {
	s := a.run.Segment()
	if s.Host.Artifacts == nil {
		return spool.Part{}, spool.ErrNoArtifacts
	}
	saved, err := artifact.Save(ctx, s.Host.Artifacts, s.Key, spool.NewArtifact{
		Name: file.Name, MediaType: file.MediaType, Data: bytes.NewReader(file.Data),
		Key: "answer:" + a.run.Row().CallKey(a.run.Row().Steps+1, spool.ToolCallID(strconv.Itoa(n))),
	})
	if err != nil {
		return spool.Part{}, err
	}
	s.NoteArtifact()
	if strings.HasPrefix(saved.MediaType, "image/") {
		return spool.Part{Type: spool.PartImage, Image: saved.ID.URI(), MIMEType: saved.MediaType}, nil
	}
	return spool.Part{Type: spool.PartFile, File: saved.ID.URI(), MIMEType: saved.MediaType, FileName: saved.Name}, nil
}
