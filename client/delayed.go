package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

const startsPath = "/api/agent/starts"

// DelayedStarts lists the starts that wait for their time, and those of the last day that were refused then.
// Empty: those of all threads.
func (c *Client) DelayedStarts(ctx context.Context, thread spool.ThreadID) iter.Seq2[wire.DelayedStart, error] {
	const size = 100
	return pages(func(after string) ([]wire.DelayedStart, string, error) {
		list, err := do[struct {
			Starts []wire.DelayedStart `json:"starts"`
		}](ctx, c, get(startsPath, "limit", number(size), "after", after, "threadId", string(thread)))
		next := ""
		if len(list.Starts) == size {
			next = string(list.Starts[size-1].RunID)
		}
		return list.Starts, next, err
	})
}

// DelayedStart returns a start that waits for its time, by the id of its run. It returns a [spool.NotFound] error if
// there is none, also once it has become a run.
func (c *Client) DelayedStart(ctx context.Context, run spool.RunID) (wire.DelayedStart, error) {
	return do[wire.DelayedStart](ctx, c, get(startPath(run)))
}

// MoveDelayedStart gives a start another time, also one that was refused. It returns a [spool.NotFound] error as
// [Client.DelayedStart] does.
func (c *Client) MoveDelayedStart(ctx context.Context, run spool.RunID, at time.Time) (wire.DelayedStart, error) {
	q := post(startPath(run), struct {
		StartAt time.Time `json:"startAt"`
	}{at})
	q.method, q.repeatable, q.refusals = http.MethodPatch, true, nil
	return do[wire.DelayedStart](ctx, c, q)
}

// CancelDelayedStart removes a start that waits for its time, and returns it. It returns a [spool.NotFound] error as
// [Client.DelayedStart] does.
func (c *Client) CancelDelayedStart(ctx context.Context, run spool.RunID) (wire.DelayedStart, error) {
	return do[wire.DelayedStart](ctx, c, request{method: http.MethodDelete, path: startPath(run)})
}

func startPath(run spool.RunID) string { return startsPath + "/" + url.PathEscape(string(run)) }
