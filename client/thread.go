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

const threadsPath = "/api/threads"

// ThreadFilter selects threads of a list. A thread must pass all fields.
type ThreadFilter struct {
	// Expired leaves out threads whose last run has no question that nobody answered in time.
	Expired bool
	// Labels leaves out threads that do not have all of these. Nil: all.
	Labels map[string]string
	// Owner leaves out the threads of other subjects. Empty: all.
	Owner string
	// PageSize is how many threads one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// State leaves out threads in other states. Empty: all.
	State wire.State
	// Title leaves out threads whose title does not contain this text. Empty: all.
	Title string
	// UpdatedAfter and UpdatedBefore leave out threads that changed last outside of these times. Zero: all.
	UpdatedAfter, UpdatedBefore time.Time
}

const defaultPageSize = 100

// Threads lists the caller's threads, the last updated one first. It reads a page when the one before has been
// consumed, so a thread that changes meanwhile may be missing or come twice. An error ends the list.
func (c *Client) Threads(ctx context.Context, f ThreadFilter) iter.Seq2[wire.Thread, error] {
	return pages(func(next string) ([]wire.Thread, string, error) { return c.ThreadPage(ctx, f, next) })
}

// ThreadPage returns one page of [Client.Threads], and the name of the next page, which is empty after the last
// one. An empty page stands for the first one.
func (c *Client) ThreadPage(
	ctx context.Context, f ThreadFilter, page string,
) (threads []wire.Thread, next string, err error) {
	q := get(threadsPath, "limit", number(pageSize(f.PageSize)), "before", page, "state", string(f.State), "q", f.Title,
		"owner", f.Owner,
		"updatedAfter", timeText(f.UpdatedAfter), "updatedBefore", timeText(f.UpdatedBefore))
	if f.Expired {
		q.query.Set("expired", "true")
	}
	for key, value := range f.Labels {
		q.query.Add("label", key+":"+value)
	}
	list, err := do[struct {
		Threads []wire.Thread `json:"threads"`
		Next    string        `json:"next"`
	}](ctx, c, q)
	return list.Threads, list.Next, err
}

func pageSize(n int) int {
	if n == 0 {
		return defaultPageSize
	}
	return n
}

// timeText returns the form of a time in a parameter, "" for the zero time.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Format(time.RFC3339Nano)
}

// pages yields the elements of pages. The page before names the next one, and the last page names "".
func pages[T any](read func(page string) ([]T, string, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for page := ""; ; {
			list, next, err := read(page)
			if err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, element := range list {
				if !yield(element, nil) {
					return
				}
			}
			if page = next; page == "" {
				return
			}
		}
	}
}

// UpdateThread changes a thread, and returns it as it is now. It returns a [spool.NotFound] error for a thread
// that does not exist.
func (c *Client) UpdateThread(
	ctx context.Context, thread spool.ThreadID, change wire.ThreadChange,
) (wire.Thread, error) {
	q := post(threadsPath, struct {
		ThreadID spool.ThreadID     `json:"threadId"`
		Title    *string            `json:"title,omitempty"`
		Labels   map[string]*string `json:"labels,omitempty"`
		Owner    *string            `json:"owner,omitempty"`
	}{thread, change.Title, change.Labels, change.Owner})
	q.method, q.refusals = http.MethodPatch, nil
	return do[wire.Thread](ctx, c, q)
}

// DeleteThread deletes a thread and everything that belongs to it. A thread that does not exist, or that has an
// active run, is a result with a reason.
func (c *Client) DeleteThread(ctx context.Context, thread spool.ThreadID) (wire.DeleteResult, error) {
	return do[wire.DeleteResult](ctx, c, request{
		method: http.MethodDelete, path: threadsPath, query: url.Values{"threadId": {string(thread)}},
		refusals: []int{http.StatusNotFound, http.StatusConflict},
	})
}

// Usage returns the tokens that a thread has used, and how full its context is. It returns a [spool.NotFound]
// error for a thread that does not exist.
func (c *Client) Usage(ctx context.Context, thread spool.ThreadID) (wire.ThreadUsage, error) {
	return do[wire.ThreadUsage](ctx, c, get("/api/agent/usage", "threadId", string(thread)))
}

// StreamToken opens the event stream of one thread in place of other credentials, for a page in a browser.
type StreamToken struct {
	Token string `json:"token"`
	// ExpiresAt is when the token ends, and a stream that it opened.
	ExpiresAt time.Time `json:"expiresAt"`
}

// StreamToken returns a token for the event stream of a thread. It returns a [spool.NotFound] error for a
// thread that does not exist.
func (c *Client) StreamToken(ctx context.Context, thread spool.ThreadID) (StreamToken, error) {
	return do[StreamToken](ctx, c, post("/api/agent/stream-token", threadBody{thread}))
}
