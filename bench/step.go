package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/backend/sqlite"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// stepCommits is how many transactions a step with a tool call has: one before the tool runs, which
	// notes that the call has begun, and one that adds the step to the thread.
	stepCommits = 2
	// longHistory is the number of turns of the long thread. A step must not cost more in it.
	longHistory = 1000
)

// measureStep measures how long the engine takes for a step, with a model and a tool that take no time.
func measureStep(b *bench) (_ *section, err error) {
	steps := size(b, 100, 4)
	s := &section{
		title: "Step",
		how: fmt.Sprintf("Runs of %d steps with a tool call each, carried out by `Engine.HandleJob` in this process on a SQLite file with an fsync "+
			"per commit; the model answers at once and the tool returns at once, so that what is left is the engine's. A step is %d commits: the calls "+
			"that are about to run, then the whole step. Beside it, %d commits of one row through the same writer of the same file. Bytes are what "+
			"the process hands to the system for writing.", steps, stepCommits, stepCommits),
	}
	db, err := sqlite.Open(b.newFile("step"), nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	e, err := newStepEngine(db.Backend(), steps)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	long := spool.ThreadKey{Tenant: spool.DefaultTenant, ID: "long-history"}
	if err := fillHistory(b.ctx, db, long, size(b, longHistory, 10)); err != nil {
		return nil, err
	}

	m := stepMeasure{b: b, db: db, e: e, steps: steps}
	err = b.interleave(1, m.bare, m.short, func() error { return m.long(long) })
	if err != nil {
		return nil, err
	}
	s.rows = []row{
		{"step", "µs", m.ofShort},
		{fmt.Sprintf("step behind %s turns", number(longHistory)), "µs", m.ofLong},
		{fmt.Sprintf("%d bare commits", stepCommits), "µs", m.ofBare},
		{"written by a step", "bytes", m.bytesOfShort},
		{fmt.Sprintf("written by %d bare commits", stepCommits), "bytes", m.bytesOfBare},
	}
	s.goals = []goal{
		ratioGoal(fmt.Sprintf("Step beside %d bare commits", stepCommits), m.ofShort, m.ofBare, 2, false),
		ratioGoal(fmt.Sprintf("Bytes written by a step beside %d bare commits", stepCommits), m.bytesOfShort, m.bytesOfBare,
			6, false),
		ratioGoal(fmt.Sprintf("Step behind %s turns beside one in a new thread", number(longHistory)), m.ofLong, m.ofShort,
			1.3, false),
	}
	return s, nil
}

// newStepEngine returns an engine whose runs have a number of steps, with a tool call each.
func newStepEngine(backend store.Backend, steps int) (*engine.Engine, error) {
	return engine.New(backend, engine.Config{
		SingleProcess: true,
		Agents: []spool.Agent{{Name: "bench", Model: "stepper", MaxSteps: steps + 1, Tools: []spool.Tool{{
			ToolSpec: spool.ToolSpec{Name: "look", Description: "Looks."},
			Polling:  true, // each call of a run is the same
			Call: func(context.Context, spool.ToolCall) (json.RawMessage, error) {
				return json.RawMessage(`{"seen":"nothing of note, as on all other days"}`), nil
			},
		}}}},
		Models: map[string]spool.Model{"stepper": stepper(steps)},
		Log:    warnings(),
	})
}

// stepMeasure collects one number per round for each arm.
type stepMeasure struct {
	b     *bench
	db    store.Store
	e     *engine.Engine
	steps int

	ofShort, ofLong, ofBare   sample
	bytesOfShort, bytesOfBare sample
}

func (m *stepMeasure) bare() error {
	before := bytesWritten()
	var commits sample
	for range m.steps * stepCommits {
		took := commit(m.b.ctx, m.db)
		if took < 0 {
			return errors.New("the bare commit failed")
		}
		commits = append(commits, took*1000)
	}
	sum := 0.0
	for _, c := range commits {
		sum += c
	}
	m.ofBare = append(m.ofBare, sum/float64(m.steps))
	m.bytesOfBare = append(m.bytesOfBare, (bytesWritten()-before)/float64(m.steps))
	return nil
}

func (m *stepMeasure) short() error {
	before := bytesWritten()
	took, err := m.run(spool.ThreadKey{Tenant: spool.DefaultTenant, ID: spool.ThreadID(spool.NewID("thr"))})
	m.ofShort = append(m.ofShort, took)
	m.bytesOfShort = append(m.bytesOfShort, (bytesWritten()-before)/float64(m.steps))
	return err
}

func (m *stepMeasure) long(key spool.ThreadKey) error {
	took, err := m.run(key)
	m.ofLong = append(m.ofLong, took)
	return err
}

// run returns how many microseconds each step of a run took on average, including the run's beginning
// and end.
func (m *stepMeasure) run(key spool.ThreadKey) (float64, error) {
	started, err := m.e.Run(m.b.ctx, key, wire.StartRequest{Prompt: startPrompt})
	if err != nil {
		return 0, err
	}
	if !started.Accepted {
		return 0, errors.New("the run was refused: " + started.Error)
	}
	began := time.Now()
	_, err = m.e.HandleJob(m.b.ctx, wire.Job{
		Tenant: key.Tenant, ThreadID: key.ID, RunID: started.RunID, Agent: "bench", Model: "stepper", Kind: wire.JobStart,
	})
	took := time.Since(began)
	if err != nil {
		return 0, err
	}
	return float64(took.Microseconds()) / float64(m.steps), m.ended(key, started.RunID)
}

// ended returns an error unless the run has had all its steps.
func (m *stepMeasure) ended(key spool.ThreadKey, id spool.RunID) error {
	return m.db.View(m.b.ctx, key, func(v store.View) error {
		run, err := store.FindRun(v, id)
		if err == nil && (run.State != wire.Completed || run.Steps != m.steps) {
			err = fmt.Errorf("the run is %s after %d steps", run.State, run.Steps)
		}
		return err
	})
}

// fillHistory adds the given number of turns to a thread.
func fillHistory(ctx context.Context, db store.Store, key spool.ThreadKey, turns int) error {
	return db.Update(ctx, key, 0, func(tx store.Tx) error {
		c := store.Changes{Thread: &wire.Thread{State: wire.Idle, Title: "A long conversation", Model: "stepper"}}
		for i := range turns {
			c.Messages = append(c.Messages, &spool.Message{
				ID:      spool.MessageID("msg_" + strconv.Itoa(i)),
				Role:    []spool.Role{spool.RoleUser, spool.RoleAssistant}[i%2],
				Content: spool.TextContent(startPrompt),
			})
		}
		return tx.Write(c)
	})
}

// stepper is a model that calls a tool in each step except the last.
type stepper int

// Stream implements [spool.Model].
func (n stepper) Stream(_ context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	done := 0
	for i := len(r.Messages) - 1; i >= 0 && r.Messages[i].Role != spool.RoleUser; i-- {
		if r.Messages[i].Role == spool.RoleTool {
			done++
		}
	}
	count := func(n int64) *int64 { return &n }
	usage := spool.Usage{Input: count(120), Output: count(12)}
	return func(yield func(spool.ModelEvent, error) bool) {
		if done >= int(n)-1 {
			_ = yield(spool.TextDelta{Text: words}, nil) &&
				yield(spool.Finish{Reason: spool.FinishStop, Usage: usage, ModelID: "stepper-1"}, nil)
			return
		}
		id := spool.ToolCallID("call_" + strconv.Itoa(done))
		_ = yield(spool.TextDelta{Text: words}, nil) &&
			yield(spool.ToolCallStart{ID: id, Name: "look"}, nil) &&
			yield(spool.ToolCallEnd{ID: id, Name: "look", Args: `{"at":"the sea"}`}, nil) &&
			yield(spool.Finish{Reason: spool.FinishToolCalls, Usage: usage, ModelID: "stepper-1"}, nil)
	}
}

// bytesWritten returns how many bytes this process has written so far, or 0 if the system does not
// report it.
func bytesWritten() float64 {
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "wchar:"); ok {
			n, _ := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			return n
		}
	}
	return 0
}
