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
)

// attemptError says that a nested run has failed an attempt and is to have another one: the
// segment ends for it once all else that it could do is done.
type attemptError struct {
	attempts int // of the nested run, with this one
	err      error
}

func (a *attemptError) Error() string { return a.err.Error() }
func (a *attemptError) Unwrap() error { return a.err }

// later returns the one of two that asks for the longer wait.
func (a *attemptError) later(b *attemptError) *attemptError {
	if b == nil || a.attempts > b.attempts {
		return a
	}
	return b
}

// delegate carries out a spawn call: it makes the nested run, or takes it up where it was
// saved last, and works on it until it ends or waits. It may be called again and again for
// the same call, in whatever process, and so its outcome is never unknown.
func (l *loop) delegate(ctx context.Context, p *plannedCall) (o outcome) {
	o.planned = p
	defer func() {
		if o.err != nil && !errors.As(o.err, new(*attemptError)) && !isStoreError(o.err) && ctx.Err() == nil {
			o.err = &spool.Error{Code: spool.Internal, Message: "the nested run could not be made", Err: o.err}
		}
	}()
	release, err := l.s.slot(ctx, l.self.Depth+1)
	if err != nil {
		o.err = err
		return o
	}
	defer release()
	run, err := l.spawn(ctx, p)
	if err != nil {
		o.err = err
		return o
	}
	child := l.child(run)
	p.nested = child
	child.started(ctx)
	if run.State.Terminal() {
		child.finishedBefore(ctx)
	} else if o.err = child.carry(ctx); o.err != nil {
		return o
	}
	switch child.run.State {
	case spool.Completed, spool.Failed:
		o.result = told(child.run)
	case spool.WaitingForInput:
		o.waits = true
	default: // stopped, and so is the whole tree
		o.stopped = true
	}
	return o
}

// limits are those of the tree. A configuration that has changed since may have none.
func (s *segment) limits() spool.Spawn {
	if s.main.agent != nil && s.main.agent.Spawn != nil {
		return *s.main.agent.Spawn
	}
	return spool.Spawn{MaxDepth: registry.DefaultMaxDepth, MaxConcurrent: registry.DefaultMaxConcurrent, ResultCap: registry.DefaultResultCap}
}

// slot waits until one more nested run may be at work at a depth.
func (s *segment) slot(ctx context.Context, depth int) (release func(), err error) {
	s.slotting.Lock()
	slots := s.slots[depth]
	if slots == nil {
		slots = make(chan struct{}, s.limits().MaxConcurrent)
		if s.slots == nil {
			s.slots = make(map[int]chan struct{})
		}
		s.slots[depth] = slots
	}
	s.slotting.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// nestedID names the run that a call spawns, which is the same however often it is.
func nestedID(parent spool.RunID, call spool.ToolCallID) spool.RunID {
	sum := sha256.Sum256([]byte(string(parent) + "\x00" + string(call)))
	return spool.RunID("sub_" + nestedEncoding.EncodeToString(sum[:16]))
}

var nestedEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// spawn returns the run that a call makes, made before or now.
func (l *loop) spawn(ctx context.Context, p *plannedCall) (run spool.RunRow, err error) {
	id := nestedID(l.self.ID, p.call.ID)
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) error {
		run, err = v.Run(id)
		return err
	})
	switch {
	case err == nil && !p.spawned(run): // somebody else chose it
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
	var used error
	err = l.s.update(ctx, func(root *thread.Tx) error { // not the loop's own: others of its step spawn too
		tx, err := root.Of(l.self)
		if err != nil {
			return err
		}
		run, used = l.newNested(tx, id, p.call.ID, b), nil
		if err = thread.Spawn(tx, run, b.Instructions); spool.CodeOf(err) == spool.Conflict { // somebody else chose it
			used, err = err, nil
		}
		return err
	})
	return run, cmp.Or(err, used)
}

// spawned reports whether a run is the one that the call has made. Who starts runs may choose
// any id for them.
func (p *plannedCall) spawned(run spool.RunRow) bool { return run.ParentID == p.call.RunID }

func (l *loop) newNested(tx *thread.Tx, id spool.RunID, call spool.ToolCallID, b registry.Brief) spool.RunRow {
	agent := l.agent.Nested(b.Name)
	model := agent.Model
	if agent.InheritModel {
		model = l.self.Model
	}
	if l.s.runner.Registry.HasModelFor(b.Model, tx.Thread.Tenant, l.self.Scopes) {
		model = b.Model
	}
	run := spool.RunRow{
		Run: spool.Run{
			Tenant: tx.Thread.Tenant, ID: id, ThreadID: tx.Thread.ID, ParentID: l.self.ID, CallID: call, RootID: l.self.Root(),
			Depth: l.self.Depth + 1, Agent: b.Name, Model: model, State: spool.Running, StartedAt: tx.Now,
			Prompt: registry.Shorten(b.Instructions, registry.PromptCap), StartedBy: l.self.StartedBy,
		},
		RunState: l.self.Given(),
	}
	run.Client, run.Nonce = registry.ToolsOnly(run.Client), tx.Random.Nonce()
	return run
}

// child returns the loop of a nested run that a call of this one has spawned.
func (l *loop) child(run spool.RunRow) *loop {
	agent := l.agent.Nested(run.Agent).Permitted(run)
	model := cmp.Or(l.s.runner.Registry.Model(run.Model, agent), l.model)
	return newLoop(l.s, l.runState, agent, model, run)
}

// frames returns the calls that wait while a call of the loop does, the innermost first.
func (l *runState) frames() []spool.ParkFrame {
	var frames []spool.ParkFrame
	for ; l.parent != nil; l = l.parent {
		frame := spool.ParkFrame{ToolCallID: l.self.CallID}
		if id := l.parent.self.AgentID(); id != "" {
			frame.AgentID = &id
		}
		frames = append(frames, frame)
	}
	return frames
}

// told is what the run above reads of one that has ended.
func told(run spool.RunRow) json.RawMessage {
	said := struct {
		AgentID spool.AgentID `json:"agentId"`
		Result  *string       `json:"result,omitempty"`
		Note    string        `json:"note,omitempty"`
		Error   string        `json:"error,omitempty"`
	}{AgentID: run.AgentID()}
	if run.State == spool.Failed {
		said.Error = cmp.Or(run.Error, "the nested run failed")
		return toolresult.JSON(said)
	}
	text := ""
	if run.Result != nil {
		text = run.Result.Text
	}
	said.Result = &text
	if run.StopReason != spool.StopCompleted {
		said.Note = "it ended early: " + strings.ReplaceAll(string(run.StopReason), "_", " ")
	}
	return toolresult.JSON(said)
}
