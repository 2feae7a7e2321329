package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// attemptError says that an attempt of a nested run failed and that the run will have another attempt.
// The segment ends once its other calls are done.
type attemptError struct {
	attempts int // of the nested run, including this one; 0: it goes on with another model, at once
	err      error
}

func (a *attemptError) Error() string { return a.err.Error() }
func (a *attemptError) Unwrap() error { return a.err }

// later returns the error with the longer delay.
func (a *attemptError) later(b *attemptError) *attemptError {
	if b == nil || a.attempts > b.attempts {
		return a
	}
	return b
}

// delegate executes a spawn call: it creates or resumes the nested run, and executes the nested run
// until it ends or waits. Any process may call it again for the same call, so the call's outcome is
// never unknown.
func (l *loop) delegate(ctx context.Context, p *plannedCall, at turn) (o outcome) {
	o.planned = p
	defer func() {
		if o.err != nil && !errors.As(o.err, new(*attemptError)) && !isStoreError(o.err) && ctx.Err() == nil {
			o.err = &spool.Error{Code: spool.Internal, Message: "the nested run could not be made", Err: o.err}
		}
	}()
	child, release, err := l.begin(ctx, p, at)
	if err != nil {
		o.err = err
		return o
	}
	defer release()
	if child.run.State.Terminal() {
		child.finishedBefore(ctx)
	} else if o.err = child.execute(ctx); o.err != nil {
		return o
	}
	switch child.run.State {
	case wire.Completed, wire.Failed:
		o.result = nestedResult(child.run)
	case wire.WaitingForInput:
		o.waits = true
	default: // the whole tree was stopped
		o.stopped = true
	}
	return o
}

// turn is the place of a spawn call among those of its step.
type turn struct {
	before <-chan struct{} // closed when the nested run of the call before has begun, or cannot begin
	done   chan<- struct{} // closed by the call
}

// begin creates the nested run of a call, or finds it, and announces it. It first waits until the nested
// run may be active. Release ends that.
//
// Nested runs begin in the order of their calls, and one at a time in the whole segment. So the stream
// announces them in the order in which the store has them: a client that follows knows no other order.
func (l *loop) begin(ctx context.Context, p *plannedCall, at turn) (child *loop, release func(), err error) {
	defer close(at.done)
	select {
	case <-at.before:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if release, err = l.s.acquireNested(ctx, l.self.Depth+1); err != nil {
		return nil, nil, err
	}
	l.s.begins.Lock()
	defer l.s.begins.Unlock()
	if err = ctx.Err(); err == nil {
		var run store.RunRow
		if run, err = l.spawn(ctx, p); err == nil {
			child = l.child(run)
			p.nested = child
			child.started(ctx)
			return child, release, nil
		}
	}
	release()
	return nil, nil, err
}

// limits returns the tree's limits for nested runs, or the defaults if the configuration no longer has
// them.
func (s *segment) limits() spool.Spawn {
	if s.main.agent != nil && s.main.agent.Spawn != nil {
		return *s.main.agent.Spawn
	}
	return spool.Spawn{MaxDepth: registry.DefaultMaxDepth, MaxConcurrent: registry.DefaultMaxConcurrent, ResultCap: registry.DefaultResultCap}
}

// acquireNested waits until one more nested run may be active at the given depth.
func (s *segment) acquireNested(ctx context.Context, depth int) (release func(), err error) {
	s.nestedMu.Lock()
	slots := s.nestedSlots[depth]
	if slots == nil {
		slots = make(chan struct{}, s.limits().MaxConcurrent)
		if s.nestedSlots == nil {
			s.nestedSlots = make(map[int]chan struct{})
		}
		s.nestedSlots[depth] = slots
	}
	s.nestedMu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nestedID returns the id of the run that a call spawns. A repetition of the call gets the same id.
func nestedID(parent spool.RunID, call spool.ToolCallID) spool.RunID {
	sum := sha256.Sum256([]byte(string(parent) + "\x00" + string(call)))
	return spool.RunID("sub_" + nestedEncoding.EncodeToString(sum[:16]))
}

var nestedEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// spawn returns the nested run of a call. It creates the run if it does not exist.
func (l *loop) spawn(ctx context.Context, p *plannedCall) (run store.RunRow, err error) {
	id := nestedID(l.self.ID, p.call.ID)
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v store.View) error {
		run, err = store.FindRun(v, id)
		return err
	})
	switch {
	case err == nil && !p.spawned(run): // a caller chose the same id
		return run, spool.Errorf(spool.Conflict, "the id of the nested run is taken")
	case err == nil:
		return run, nil
	case !record.Missing(err):
		return run, storeError{err}
	}
	b, err := registry.BriefOf(p.call.Args)
	if err != nil {
		return run, err
	}
	err = l.s.update(ctx, func(root *thread.Tx) error { // not l.update, because sibling calls spawn concurrently
		tx, err := root.ForRun(l.self)
		if err != nil {
			return err
		}
		run = l.newNested(tx, id, p.call.ID, b)
		return thread.Spawn(tx, run, b.Instructions)
	})
	if errors.Is(err, store.ErrRunIDUsed) { // the store has not failed
		err = store.ErrRunIDUsed
	}
	return run, err
}

// spawned reports whether the call created the run. The check is needed because callers may choose any
// id for the runs that they start.
func (p *plannedCall) spawned(run store.RunRow) bool { return run.ParentID == p.call.RunID }

func (l *loop) newNested(tx *thread.Tx, id spool.RunID, call spool.ToolCallID, b registry.Brief) store.RunRow {
	agent := l.agent.Nested(b.Name)
	model := agent.Model
	if agent.InheritModel {
		model = l.self.Model
	}
	if l.s.runner.Registry.HasModelFor(b.Model, tx.Thread.Tenant, l.self.Scopes) {
		model = b.Model
	}
	run := store.RunRow{
		Run: wire.Run{
			Tenant: tx.Thread.Tenant, ID: id, ThreadID: tx.Thread.ID, ParentID: l.self.ID, CallID: call, RootID: l.self.Root(),
			Depth: l.self.Depth + 1, Agent: b.Name, Model: model, State: wire.Running, StartedAt: tx.Now,
			Prompt: registry.Shorten(b.Instructions, registry.PromptCap), StartedBy: l.self.StartedBy,
		},
		RunState: l.self.Given(),
	}
	run.ProviderOptions = registry.OptionsOf(l.agent, l.self)
	run.Client, run.Nonce = registry.ToolsOnly(run.Client), tx.Random.Nonce()
	return run
}

// child returns the loop of a nested run.
func (l *loop) child(run store.RunRow) *loop {
	agent := l.agent.Nested(run.Agent).Permitted(run)
	model := cmp.Or(l.s.runner.Registry.Model(run.ModelInUse(), agent), l.model)
	return newLoop(l.s, l.runState, agent, model, run)
}

// frames returns the calls that wait for this run, the innermost first.
func (l *runState) frames() []wire.ParkFrame {
	var frames []wire.ParkFrame
	for ; l.parent != nil; l = l.parent {
		frame := wire.ParkFrame{ToolCallID: l.self.CallID}
		if id := l.parent.self.AgentID(); id != "" {
			frame.AgentID = &id
		}
		frames = append(frames, frame)
	}
	return frames
}

// nestedResult returns what the parent run's model reads about a nested run that has ended.
func nestedResult(run store.RunRow) json.RawMessage {
	result := struct {
		AgentID spool.AgentID   `json:"agentId"`
		Result  json.RawMessage `json:"result,omitempty"`
		Note    string          `json:"note,omitempty"`
		Error   string          `json:"error,omitempty"`
	}{AgentID: run.AgentID()}
	if run.State == wire.Failed {
		result.Error = cmp.Or(run.Error, "the nested run failed")
		return toolresult.JSON(result)
	}
	text := ""
	if run.Result != nil {
		text = run.Result.Text
	}
	result.Result = toolresult.JSON(text)
	if run.OutputValue() != nil && json.Valid([]byte(text)) { // it is the value, and not cut
		result.Result = json.RawMessage(text)
	}
	if run.StopReason != wire.StopCompleted {
		result.Note = "it ended early: " + strings.ReplaceAll(string(run.StopReason), "_", " ")
	}
	return toolresult.JSON(result)
}
