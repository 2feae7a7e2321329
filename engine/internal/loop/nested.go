package loop

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"strings"
	"sync"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/calls"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/registry"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/chanlock"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// tree is what the loops of a segment share.
type tree struct {
	begins chanlock.Lock // held while a nested run begins
	mu     sync.Mutex
	slots  map[int]chan struct{} // limit the active nested runs, by depth
}

// acquire waits until one more nested run may be active at the given depth, where most may be.
func (t *tree) acquire(ctx context.Context, depth, most int) (release func(), err error) {
	t.mu.Lock()
	slots := t.slots[depth]
	if slots == nil {
		slots = make(chan struct{}, most)
		if t.slots == nil {
			t.slots = make(map[int]chan struct{})
		}
		t.slots[depth] = slots
	}
	t.mu.Unlock()
	select {
	case slots <- struct{}{}:
		return func() { <-slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// delegate executes a spawn call: it creates or resumes the nested run, and executes the nested run
// until it ends or waits. Any process may call it again for the same call, so the call's outcome is
// never unknown.
func (l *Loop) delegate(ctx context.Context, p *calls.Call, at calls.Place) (o calls.Outcome) {
	defer func() {
		if o.Err != nil && !errors.As(o.Err, new(*calls.AttemptError)) && !active.IsStoreError(o.Err) && ctx.Err() == nil {
			o.Err = &spool.Error{Code: spool.Internal, Message: "the nested run could not be made", Err: o.Err}
		}
	}()
	child, release, err := l.begin(ctx, p, at)
	if err != nil {
		o.Err = err
		return o
	}
	defer release()
	if child.run.Row().State.Terminal() {
		child.finishedBefore(ctx)
	} else if o.Err = child.execute(ctx); o.Err != nil {
		return o
	}
	switch child.run.Row().State {
	case wire.Completed, wire.Failed:
		o.Result = nestedResult(child.run.Row())
	case wire.WaitingForInput:
		o.Waits = true
	default: // the whole tree was stopped
		o.Stopped = true
	}
	return o
}

// begin creates the nested run of a call, or finds it, and announces it. It first waits until the nested
// run may be active. Release ends that.
//
// Nested runs begin in the order of their calls, and one at a time in the whole segment. So the stream
// announces them in the order in which the store has them: a client that follows knows no other order.
func (l *Loop) begin(ctx context.Context, p *calls.Call, at calls.Place) (child *Loop, release func(), err error) {
	defer close(at.Done)
	select {
	case <-at.Before:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	if release, err = l.tree.acquire(ctx, l.run.AtStart().Depth+1, l.run.SpawnLimits().MaxConcurrent); err != nil {
		return nil, nil, err
	}
	l.tree.begins.Lock()
	defer l.tree.begins.Unlock()
	if err = ctx.Err(); err == nil {
		var run store.RunRow
		if run, err = l.spawn(ctx, p.ToolCall()); err == nil {
			child = l.child(run)
			l.nested[p] = child
			child.started(ctx)
			return child, release, nil
		}
	}
	release()
	return nil, nil, err
}

// nestedID returns the id of the run that a call spawns. A repetition of the call gets the same id.
func nestedID(parent spool.RunID, call spool.ToolCallID) spool.RunID {
	sum := sha256.Sum256([]byte(string(parent) + "\x00" + string(call)))
	return spool.RunID("sub_" + nestedEncoding.EncodeToString(sum[:16]))
}

var nestedEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// spawn returns the nested run of a call. It creates the run if it does not exist.
func (l *Loop) spawn(ctx context.Context, call spool.ToolCall) (run store.RunRow, err error) {
	id := nestedID(l.run.AtStart().ID, call.ID)
	err = l.run.View(ctx, func(v store.View) error {
		run, err = store.FindRun(v, id)
		return err
	})
	switch {
	case err == nil && !spawned(run, call): // a caller chose the same id
		return run, spool.Errorf(spool.Conflict, "the id of the nested run is taken")
	case err == nil:
		return run, nil
	case !record.Missing(err):
		return run, err
	}
	b, err := registry.BriefOf(call.Args)
	if err != nil {
		return run, err
	}
	// not l.run.Update, because sibling calls spawn concurrently
	err = l.run.Segment().Update(ctx, func(root *thread.Tx) error {
		tx, err := root.ForRun(l.run.AtStart())
		if err != nil {
			return err
		}
		run = l.newNested(tx, id, call.ID, b)
		return thread.Spawn(tx, run, b.Instructions)
	})
	if errors.Is(err, store.ErrRunIDUsed) { // the store has not failed
		err = store.ErrRunIDUsed
	}
	return run, err
}

// spawned reports whether a call created the run. The check is needed because callers may choose any
// id for the runs that they start.
func spawned(run store.RunRow, by spool.ToolCall) bool { return run.ParentID == by.RunID }

func (l *Loop) newNested(tx *thread.Tx, id spool.RunID, call spool.ToolCallID, b registry.Brief) store.RunRow {
	parent, agent := l.run.AtStart(), l.run.Agent().Nested(b.Name)
	model := agent.Model
	if agent.InheritModel {
		model = parent.Model
	}
	if l.run.Host().Registry.HasModelFor(b.Model, tx.Thread.Tenant, parent.Scopes) {
		model = b.Model
	}
	run := store.RunRow{
		Run: wire.Run{
			Tenant: tx.Thread.Tenant, ID: id, ThreadID: tx.Thread.ID, ParentID: parent.ID, CallID: call, RootID: parent.Root(),
			Depth: parent.Depth + 1, Agent: b.Name, Model: model, State: wire.Running, StartedAt: tx.Now,
			Prompt: registry.Shorten(b.Instructions, registry.PromptCap), StartedBy: parent.StartedBy,
		},
		RunState: parent.Given(),
	}
	run.ProviderOptions = registry.OptionsOf(l.run.Agent(), parent)
	run.Client, run.Nonce = registry.ToolsOnly(run.Client), tx.Random.Nonce()
	return run
}

// child returns the loop of a nested run.
func (l *Loop) child(row store.RunRow) *Loop {
	run := l.run.Child(row)
	model := cmp.Or(l.run.Host().Registry.Model(row.ModelInUse(), run.Agent()), l.asker.model)
	return newLoop(l.asker.models, nil, l.tree, run, model)
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
