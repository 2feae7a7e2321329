//go:build unix

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// payloadBegin begins each payload of an answer. No two payloads of a campaign are equal.
const payloadBegin = "because-"

// answerMCP decides about a question and answers it. Sometimes two people decide at the same time, each with another
// word, and sometimes a second one is slower.
func (t *conversation) answerMCP(ctx context.Context, p store.Park) {
	decide := func() (client.RespondRequest, said) { return t.decide(p) }
	if p.Reason == wire.ParkOutcomeUnknown {
		in, what := t.tellOutcome(p)
		decide = func() (client.RespondRequest, said) { return in, what }
	}
	var both sync.WaitGroup
	for range 1 + t.n(2) {
		both.Go(func() { t.tell(ctx, decide) })
	}
	both.Wait()
	if t.n(4) == 0 && sleep(ctx, 300*time.Millisecond) {
		t.tell(ctx, decide)
	}
}

// tell sends an answer and notes what became of it.
func (t *conversation) tell(ctx context.Context, decide func() (client.RespondRequest, said)) {
	in, s := decide()
	s.unknown = true
	t.mu.Lock()
	at := len(t.said)
	t.said = append(t.said, s) // before its effect
	t.mu.Unlock()
	result, err := t.respond(ctx, in)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said[at].delivered, t.said[at].unknown = err == nil && result.Delivered, err != nil
}

// decide returns an answer to an approval or to a question of the server.
func (t *conversation) decide(p store.Park) (client.RespondRequest, said) {
	in := client.RespondRequest{ToolCallID: p.ToolCallID, Digest: p.Digest, Approved: t.n(5) > 0}
	s := said{question: approvalOf(p.ToolCallID), approved: in.Approved}
	if p.Reason != wire.ParkApproval {
		s.question = questionOf.FindString(string(p.Shown))
		s.payload = fmt.Sprintf("%s%d", payloadBegin, t.number())
		if in.Approved {
			in.Payload, _ = json.Marshal(map[string]string{"reason": s.payload}) //nolint:errchkjson // strings
		} else {
			s.payload = ""
		}
	}
	return in, s
}

// approvalOf names the question whether a call may run.
func approvalOf(call spool.ToolCallID) string { return "approval of " + string(call) }

// outcomeOf names the question for the outcome of a call.
func outcomeOf(call spool.ToolCallID) string { return "outcome of " + string(call) }

// tellOutcome looks into the server's ledger. It tells a run that a call has happened, or lets the run call the tool
// again. Sometimes a person wants that although the call has happened.
func (t *conversation) tellOutcome(p store.Park) (client.RespondRequest, said) {
	in := client.RespondRequest{ToolCallID: p.ToolCallID, Digest: p.Digest, Approved: true}
	switch happened := len(t.mcp.server.ledger.find(string(p.CallerID()), string(p.ToolCallID)).effects) > 0; {
	case happened && t.n(4) > 0:
		in.Approved = false
		in.Payload, _ = json.Marshal(resultOf(string(p.ToolCallID))) //nolint:errchkjson // a text
		t.count("unknown outcomes: it had happened")
	case happened:
		t.count("unknown outcomes: it had happened, and was run again")
	default:
		t.count("unknown outcomes: it was run again")
	}
	return in, said{question: outcomeOf(p.ToolCallID), approved: in.Approved}
}

// number returns a number that no other call returns.
func (c *campaign) number() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.numbers++
	return c.numbers
}
