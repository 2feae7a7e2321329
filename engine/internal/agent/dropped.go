package agent

import (
	"context"
	"encoding/json"

	"github.com/spoolhq/spool"
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
func (l *asker) inline(ctx context.Context, r spool.ModelRequest) (spool.ModelRequest, error) {
	var dropped []wire.FileDropped
	prompt := attach.Prompt{Thread: l.s.Key, Run: l.run.Root(), Answers: record.Answers(l.run)}
	prompt.Dropped = func(of spool.RunID, id spool.ArtifactID, text string) {
		if of == l.run.ID || of == prompt.Run || of == prompt.Answers {
			dropped = append(dropped, wire.FileDropped{ArtifactID: id, Text: text})
		}
	}
	r, err := l.s.runner.Attachments.Inline(ctx, r, prompt, l.images)
	if err != nil {
		return r, err
	}
	return r, l.recordDropped(ctx, dropped...)
}

// recordDropped appends the files that the model in use does not get to the record, once in a run.
func (l *asker) recordDropped(ctx context.Context, files ...wire.FileDropped) error {
	if len(files) == 0 {
		return nil
	}
	if err := l.readDropped(ctx); err != nil {
		return err
	}
	var fresh []wire.FileDropped
	for _, f := range files {
		f.Model = l.run.ModelInUse()
		if key := (droppedKey{f.ArtifactID, f.Model}); !l.dropped[key] {
			l.dropped[key] = true
			fresh = append(fresh, f)
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	err := l.commit(ctx, func(tx *thread.Tx) error {
		var entries []*wire.Entry
		for _, f := range fresh {
			if f.Step = l.run.Steps + 1; l.parent != nil {
				f.AgentID = new(l.run.AgentID())
			}
			entries = append(entries, wire.NewEntry(wire.EntryFileDropped, tx.Root().Run.ID, f))
		}
		return tx.Append(entries...)
	})
	if err != nil {
		l.dropped = nil // the next request reads the record again
		return err
	}
	for _, f := range fresh {
		l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "the model does not get a file", "artifact", f.ArtifactID, "step", l.run.Steps+1, "model", f.Model, "reads", f.Text)
	}
	return nil
}

// readDropped reads, once in a segment, which files the record of the run has.
func (l *asker) readDropped(ctx context.Context) error {
	if l.dropped != nil {
		return nil
	}
	dropped := make(map[droppedKey]bool)
	err := l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) error {
		entries, err := v.Entries(store.EntryQuery{Run: l.run.Root(), Type: wire.EntryFileDropped})
		for _, e := range entries {
			var f wire.FileDropped
			if err := json.Unmarshal(e.Payload, &f); err != nil {
				return err
			}
			var of spool.AgentID
			if f.AgentID != nil {
				of = *f.AgentID
			}
			if of == l.run.AgentID() {
				dropped[droppedKey{f.ArtifactID, f.Model}] = true
			}
		}
		return err
	})
	if err != nil {
		return storeError{err}
	}
	l.dropped = dropped
	return nil
}
