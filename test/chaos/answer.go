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
	"github.com/spoolhq/spool/spooltest"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// answerAgain is after how long a question that is still open is answered again: the first answer was lost.
const answerAgain = 5 * time.Second

// answerAll answers the questions of all threads until ctx ends.
func (c *campaign) answerAll(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	for sleep(ctx, 200*time.Millisecond) {
		waiting, err := c.store.Threads(ctx, wire.ThreadQuery{Tenant: spool.DefaultTenant, State: wire.WaitingForInput})
		if err != nil {
			continue
		}
		for _, thread := range waiting {
			c.mu.Lock()
			t := c.threads[thread.ID]
			c.mu.Unlock()
			if t == nil {
				continue
			}
			for _, p := range t.questions(ctx, thread.RunID) {
				under.Go(func() {
					defer t.answering.Done()
					if t.mcp != nil {
						t.answerMCP(ctx, p)
						return
					}
					t.answer(ctx, p)
				})
			}
		}
	}
}

// questions returns the open questions of a run that nobody is answering. The caller calls Done of answering once
// for each of them.
func (t *conversation) questions(ctx context.Context, run spool.RunID) (open []store.Park) {
	_ = t.store.View(ctx, t.key, func(v store.View) error {
		parks, err := v.Parks(run)
		for _, p := range parks {
			if p.State == wire.ParkOpen {
				open = append(open, p)
			}
		}
		return err
	})
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := open[:0]
	for _, p := range open {
		name := fmt.Sprintf("%s %s %s %d", p.RunID, p.ToolCallID, p.Reason, p.Occurrence)
		if time.Since(t.asked[name]) > answerAgain {
			if p.Reason == wire.ParkOutcomeUnknown && t.mcp == nil && !t.quiet() {
				t.withheld = time.Now()
				continue
			}
			t.asked[name] = time.Now()
			t.answering.Add(1)
			kept = append(kept, p)
		}
	}
	return kept
}

// answer decides about a question and answers it, sometimes twice at the same time.
func (t *conversation) answer(ctx context.Context, p store.Park) {
	in := client.RespondRequest{ToolCallID: p.ToolCallID, Digest: p.Digest, Approved: true}
	switch p.Reason {
	case wire.ParkOutcomeUnknown:
		happened, err := t.effects.happened(ctx, t.key.ID, p.CallerID(), p.ToolCallID)
		if err != nil {
			return
		}
		if happened {
			in.Approved = false
			in.Payload, _ = json.Marshal(resultOf(string(p.ToolCallID))) //nolint:errchkjson // a text
			t.count("unknown outcomes: it had happened")
		} else {
			t.count("unknown outcomes: it was run again")
		}
	case wire.ParkApproval:
		in.Approved = t.n(5) > 0
	default:
		in.Payload = json.RawMessage(`{"n":1}`)
	}
	var both sync.WaitGroup
	for range 1 + t.n(2) {
		both.Go(func() { _, _ = t.respond(ctx, in) })
	}
	both.Wait()
	if t.n(4) == 0 && sleep(ctx, 300*time.Millisecond) { // a second person was slower
		_, _ = t.respond(ctx, in)
	}
}

// respond sends an answer to a random node. The error says that its outcome is unknown.
func (t *conversation) respond(ctx context.Context, in client.RespondRequest) (wire.RespondResult, error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	result, err := t.anyNode().client.Respond(ctx, t.key.ID, in)
	t.history.Answered(spooltest.Answered{Thread: t.key, Call: in.ToolCallID, Delivered: err == nil &&
		result.Delivered, Unknown: err != nil})
	switch {
	case err != nil:
		t.count("answers with an unknown outcome")
	case result.Delivered:
		t.count("answers")
	default:
		t.count("refused answers (" + result.Reason + ")")
	}
	return result, err
}
