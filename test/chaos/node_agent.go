//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/spooltest"
)

// scripted is the model. It answers what the plan in the last user turn says.
type scripted struct{ held *holds }

// pace is the time between two words, so that faults hit the middle of an answer.
const pace = 12 * time.Millisecond

// Stream implements [spool.Model].
func (m *scripted) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	return func(yield func(spool.ModelEvent, error) bool) {
		p, err := parsePlan(lastTurn(r))
		step := spooltest.StepOf(r)
		if err == nil && step >= len(p.Steps) {
			err = fmt.Errorf("the plan %s has no step %d", p.ID, step)
		}
		if err != nil {
			yield(nil, &spool.ModelError{Status: 400, Message: err.Error(), NoRetry: true})
			return
		}
		defer m.held.hold(p.ID)()
		for _, word := range p.words(step) {
			if !sleep(ctx, pace) {
				yield(nil, ctx.Err())
				return
			}
			if !yield(spool.TextDelta{Text: word}, nil) {
				return
			}
		}
		for _, event := range p.called(step) {
			if !yield(event, nil) {
				return
			}
		}
		yield(p.finish(step), nil)
	}
}

func lastTurn(r spool.ModelRequest) string {
	for _, m := range slices.Backward(r.Messages) {
		if m.Role == spool.RoleUser {
			return m.Text()
		}
	}
	return ""
}

// called returns the events of a step's calls.
func (p plan) called(step int) (events []spool.ModelEvent) {
	for i, name := range p.Steps[step].Calls {
		id, args := p.callID(step, i), `{"n":`+strconv.Itoa(i)+`}`
		if name == "nest" {
			name = spool.SpawnTool
			raw, _ := json.Marshal(map[string]string{"name": "helper", "instructions": p.nested(step, i).prompt()}) //nolint:errchkjson // strings
			args = string(raw)
		}
		events = append(events, spool.ToolCallStart{ID: id, Name: name}, spool.ToolCallEnd{ID: id, Name: name, Args: args})
	}
	return events
}

func (p plan) finish(step int) spool.Finish {
	f := spool.Finish{
		Reason: spool.FinishStop, Usage: spooltest.Tokens(int64(10+step), int64(p.Steps[step].Words)), ModelID: "script-1",
	}
	if len(p.Steps[step].Calls) > 0 {
		f.Reason = spool.FinishToolCalls
	}
	return f
}

// nodeTools returns the tools. Each calls began when it begins. Each but ask writes what it does into the database of
// the effects.
//
// look may be repeated, once may not, send needs an approval and may not be repeated, and ask asks a question.
func nodeTools(node string, held *holds, effects *effects, began func(context.Context, spool.ToolCall)) []spool.Tool {
	tool := func(name string) spool.Tool {
		return spool.Tool{
			ToolSpec:   spool.ToolSpec{Name: name, Description: name},
			Idempotent: name == "look",
			Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
				began(ctx, call)
				defer held.hold(string(call.ID))()
				return effects.execute(ctx, node, call, name == "look")
			},
		}
	}
	send := tool("send")
	send.Approval = spool.AlwaysApprove
	ask := spool.Tool{ToolSpec: spool.ToolSpec{Name: "ask", Description: "ask"}}
	ask.Call = func(_ context.Context, call spool.ToolCall) (json.RawMessage, error) {
		if call.Answer == nil {
			return nil, spool.ParkFor("question", nil, time.Hour)
		}
		return json.RawMessage(`"heard"`), nil
	}
	return []spool.Tool{tool("look"), tool("once"), send, ask}
}
