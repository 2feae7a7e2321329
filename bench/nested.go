package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/wire"
)

const (
	// nestedDepth is the depth of the nested run that speaks.
	nestedDepth = 3
	// nestedWords is the number of words that it says.
	nestedWords = 20_000
)

// measureNested measures what a client gets of a run that speaks at the bottom of a tree, compared with
// a run that speaks itself.
func measureNested(b *bench) (_ *section, err error) {
	said := size(b, nestedWords, 20)
	s := &section{
		title: "Nested runs",
		how: fmt.Sprintf("A run spawns another, that one a third, and that one a fourth, which says %s words as fast as it can. A client in this process follows "+
			"the thread from the start of the run to the last item. Beside it, a run that says the same words itself. Both are carried out by `Engine.HandleJob` on "+
			"a SQLite file with an fsync per commit.", number(float64(said))),
	}
	db, err := sqlite.Open(b.newFile("nested"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	e, err := engine.New(db.Backend(), engine.Config{
		SingleProcess: true,
		Agents: []spool.Agent{{Name: "bench", Model: "speaker", Spawn: &spool.Spawn{
			MaxDepth: nestedDepth, Profiles: map[string]spool.Profile{"below": {Description: "Is below.", Spawns: true}},
		}}},
		Models: map[string]spool.Model{"speaker": speaker(said)},
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	m := nestedMeasure{b: b, e: e, said: said}
	err = b.interleave(1,
		func() error { return m.follow(&m.ofNested, strings.Repeat("down ", nestedDepth)) },
		func() error { return m.follow(&m.ofFlat, "speak") },
	)
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{fmt.Sprintf("words followed, %d deep", nestedDepth), "words/s", m.ofNested},
		{"words followed, of the run itself", "words/s", m.ofFlat},
	}
	s.goals = []goal{
		ratioGoal(fmt.Sprintf("Words of a run itself beside words %d deep", nestedDepth), m.ofFlat, m.ofNested, 2, false),
	}
	return s, nil
}

// nestedMeasure collects one number per round for each arm.
type nestedMeasure struct {
	b    *bench
	e    *engine.Engine
	said int

	ofNested, ofFlat sample
}

// follow starts a run and follows it to its end.
func (m *nestedMeasure) follow(into *sample, prompt string) error {
	ctx, cancel := context.WithCancel(m.b.ctx)
	defer cancel()
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
	started, err := m.e.Run(ctx, key, wire.StartRequest{Prompt: prompt})
	if err != nil || !started.Accepted {
		return errors.Join(err, errors.New("the run was not started: "+started.Error))
	}
	carried := make(chan error, 1)
	began := time.Now()
	go func() {
		_, err := m.e.HandleJob(ctx, wire.Job{
			Tenant: key.Tenant, ThreadID: key.ID, RunID: started.RunID, Agent: "bench", Model: "speaker", Kind: wire.JobStart,
		})
		carried <- err
	}()
	said := 0
	for frame, err := range m.e.Follow(ctx, key, wire.FollowOptions{Cursor: &wire.Cursor{}}) {
		if err != nil {
			return err
		}
		if frame.Kind == wire.FrameSnapshot {
			return errors.New("the stream went before it was followed")
		}
		if frame.Kind != wire.FrameStream {
			continue
		}
		switch frame.Item.Type {
		case wire.ItemTextContent, wire.ItemSubagentEvent:
			said++
		case wire.ItemRunFinished:
			*into = append(*into, float64(m.said)/time.Since(began).Seconds())
			if said < m.said {
				return fmt.Errorf("%d of %d words were seen", said, m.said)
			}
			return <-carried
		case wire.ItemRunError:
			return errors.New("the run failed")
		default:
		}
	}
	return errors.New("the thread could not be followed to the end")
}

// speaker is a model that says that many words. Each "down" in its prompt makes it spawn a nested run
// first.
type speaker int

// Stream implements [spool.Model].
func (n speaker) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	prompt, answered := "", false
	for _, m := range r.Messages {
		if m.Role == spool.RoleUser {
			prompt = m.Text()
		}
		answered = m.Role == spool.RoleTool
	}
	below, down := strings.CutPrefix(prompt, "down ")
	return func(yield func(spool.ModelEvent, error) bool) {
		finish := spool.Finish{Reason: spool.FinishStop, ModelID: "speaker-1"}
		switch {
		case answered:
			if !yield(spool.TextDelta{Text: "It was said."}, nil) {
				return
			}
		case down:
			finish.Reason = spool.FinishToolCalls
			if below == "" {
				below = "speak"
			}
			args := fmt.Sprintf(`{"name":"below","instructions":%q}`, below)
			if !yield(spool.ToolCallStart{ID: "call", Name: spool.SpawnTool}, nil) ||
				!yield(spool.ToolCallEnd{ID: "call", Name: spool.SpawnTool, Args: args}, nil) {
				return
			}
		default:
			for range n {
				if !yield(spool.TextDelta{Text: "word "}, nil) {
					return
				}
			}
		}
		yield(finish, nil)
	}
}
