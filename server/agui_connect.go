package server

import (
	"context"
	"iter"
	"net/http"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/agui"
	"github.com/spoolhq/spool/server/internal/call"
)

// connect answers POST /api/agent/ag-ui/connect with the thread as it is, and what its run says
// until that is over or waits for somebody.
func (c agents) connect(ctx context.Context, in agentInput) (agentAnswer, error) {
	who, r := call.By(ctx), rest.RequestOf(ctx)
	key := who.Key(in.Body.ThreadID)
	call.Concerns(ctx, key, in.Body.RunID)
	place, err := c.takeStream(r, who)
	if err != nil {
		return agentAnswer{}, call.About(ctx, err, key, "")
	}
	show := agui.Options{ClientRunID: string(in.Body.RunID), State: agui.UseOf(in.Body.State), Connect: true}
	answer, err := c.show(call.Acting(ctx), r, who, key, show)
	if err != nil {
		place.release()
		return agentAnswer{}, err
	}
	answer.live.place = place
	return answer, nil
}

// show opens the stream of the thread's run, or of nothing where the thread has none.
func (c agents) show(ctx context.Context, r *http.Request, who Principal, key spool.ThreadKey, o agui.Options) (agentAnswer, error) {
	thread, _, err := c.engine.UserTurns(ctx, key)
	if err != nil && spool.CodeOf(err) != spool.NotFound {
		return agentAnswer{}, call.About(ctx, err, key, "")
	}
	if o.RunID = thread.RunID; o.RunID == "" {
		return agentAnswer{live: &live{server: c.Server, events: nothingYet{key.ID, o.ClientRunID}, key: key}}, nil
	}
	answer, err := c.follow(r, who, key, o)
	if spool.CodeOf(err) == spool.NotFound { // it was deleted in this moment
		return agentAnswer{live: &live{server: c.Server, events: nothingYet{key.ID, o.ClientRunID}, key: key}}, nil
	}
	return answer, err
}

// nothingYet is the stream of a thread that has no messages: a page shows one before its first
// turn.
type nothingYet struct {
	thread spool.ThreadID
	run    string
}

// Chunks implements [eventSource].
func (n nothingYet) Chunks() iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var text agui.Text
		if err := text.Add("", agui.Nothing(n.thread, n.run)...); err != nil {
			yield(nil, err)
			return
		}
		for _, piece := range text.Pieces() {
			if !yield(piece, nil) {
				return
			}
		}
	}
}

// Close implements [eventSource].
func (nothingYet) Close() error { return nil }
