package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"runtime"
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
	// nestedWords is the number of words that it says: so many that the runs themselves cost little beside them.
	nestedWords = 60_000
	// nestedAhead is how many words the model may be ahead of the client, by hundreds. A client that is behind reads
	// them in another way, and how far it is behind depends on what else the machine does.
	nestedAhead = 5
	// nestedPairs is how many runs of each kind a round has.
	nestedPairs = 5
	// nestedGoal is how much CPU time a word of a nested run may take, relative to one of a run itself.
	nestedGoal = 1.3
	// nestedQuiet is how long a process does nothing when all work for a run is done. An ended stream is packed half
	// a second after its end.
	nestedQuiet = 600 * time.Millisecond
)

// measureNested measures what the words of a run at the bottom of a tree cost, compared with those of a run that
// speaks itself.
func measureNested(b *bench) (_ *section, err error) {
	said := size(b, nestedWords, 20)
	s := &section{
		title: "Nested runs",
		how: fmt.Sprintf("A run spawns another, that one a third, and that one a fourth, which says %s words as fast as a client takes them. The client is in this process, and follows "+
			"the thread from the start of the run to its end. Beside it, a run that says the same words itself. Both are carried out by `Engine.HandleJob` on "+
			"a SQLite file with an fsync per commit. What counts is the CPU time of the process, which does nothing else, until all work for the run is done. "+
			"The two take turns, and the median of %d runs is a round's number.", number(float64(said)), nestedPairs),
	}
	model := speaker{said, make(chan struct{}, nestedAhead)}
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
		Models: map[string]spool.Model{"speaker": model},
		Log:    slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, err
	}
	defer e.Close()
	m := nestedMeasure{b: b, e: e, speaker: model}
	err = b.interleave(1, func() error {
		var ofNested, ofFlat sample
		for range size(b, nestedPairs, 1) {
			err := errors.Join(m.cost(&ofNested, strings.Repeat("down ", nestedDepth)), m.cost(&ofFlat, "speak"))
			if err != nil {
				return err
			}
		}
		m.ofNested, m.ofFlat = append(m.ofNested, ofNested.median()), append(m.ofFlat, ofFlat.median())
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{fmt.Sprintf("a word, %d deep", nestedDepth), "µs of CPU", m.ofNested},
		{"a word of the run itself", "µs of CPU", m.ofFlat},
	}
	s.goals = []goal{
		ratioGoal(fmt.Sprintf("Words of a run itself beside words %d deep", nestedDepth), m.ofNested, m.ofFlat, nestedGoal,
			false),
	}
	return s, nil
}

// nestedMeasure collects one number per round for each arm.
type nestedMeasure struct {
	speaker

	b *bench
	e *engine.Engine

	ofNested, ofFlat sample
}

// cost measures the CPU time of a run for each word, in microseconds.
func (m *nestedMeasure) cost(into *sample, prompt string) error {
	runtime.GC() // so that each run pays for its own garbage
	began := cpuTime()
	err := m.follow(prompt)
	*into = append(*into, milliseconds(m.quiet()-began)*1000/float64(m.words))
	return err
}

// quiet waits until the process has nothing to do. It returns the CPU time up to then.
func (m *nestedMeasure) quiet() time.Duration {
	for used := cpuTime(); ; {
		select {
		case <-time.After(size(m.b, nestedQuiet, 0)):
		case <-m.b.ctx.Done():
			return used
		}
		now := cpuTime()
		if now-used < time.Millisecond {
			return now
		}
		used = now
	}
}

// follow starts a run and follows it to its end.
func (m *nestedMeasure) follow(prompt string) error {
	ctx, cancel := context.WithCancel(m.b.ctx)
	defer cancel()
	key := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))}
	started, err := m.e.Run(ctx, key, wire.StartRequest{Prompt: prompt})
	if err != nil || !started.Accepted {
		return errors.Join(err, errors.New("the run was not started: "+started.Error))
	}
	carried := make(chan error, 1)
	go func() {
		_, err := m.e.HandleJob(ctx, wire.Job{
			Tenant: key.Tenant, ThreadID: key.ID, RunID: started.RunID, Agent: "bench", Model: "speaker", Kind: wire.JobStart,
		})
		carried <- err
	}()
	said := 0
	for frame, err := range m.e.Follow(ctx, key, wire.FollowOptions{Cursor: &wire.Cursor{}}) {
		switch {
		case err != nil:
			return err
		case frame.Kind == wire.FrameSnapshot:
			return errors.New("the stream went before it was followed")
		case frame.Kind == wire.FrameThread && frame.Event.Type == wire.EntryRunEnded:
			if said < m.words {
				return fmt.Errorf("%d of %d words were seen", said, m.words)
			}
			return <-carried
		case frame.Kind == wire.FrameStream:
			switch frame.Item.Type {
			case wire.ItemTextContent, wire.ItemSubagentEvent:
				if said++; said%100 == 0 {
					m.taken()
				}
			case wire.ItemRunError:
				return errors.New("the run failed")
			default:
			}
		}
	}
	return errors.New("the thread could not be followed to the end")
}

// speaker is a model that says that many words. Each "down" in its prompt makes it spawn a nested run
// first.
type speaker struct {
	words int
	ahead chan struct{} // has one for each hundred words that the client has not taken
}

// taken lets the model say a hundred words more.
func (n speaker) taken() {
	select {
	case <-n.ahead:
	default: // the client counts more items than words
	}
}

// Stream implements [spool.Model].
func (n speaker) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
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
			for i := range n.words {
				if i%100 == 0 {
					select {
					case n.ahead <- struct{}{}:
					case <-ctx.Done():
						yield(nil, ctx.Err())
						return
					}
				}
				if !yield(spool.TextDelta{Text: "word "}, nil) {
					return
				}
			}
		}
		yield(finish, nil)
	}
}
