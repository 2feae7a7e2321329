package client

import (
	"context"
	"iter"

	"github.com/spoolhq/spool"
)

const inboxPath = "/api/agent/inbox"

// InboxFilter selects questions of a list. A question must pass all fields.
type InboxFilter struct {
	// Agent leaves out questions of other agents: of the run's, or of the nested run that asks. Empty: all.
	Agent string
	// Order says which question comes first. Defaults to [spool.ParksByAge].
	Order spool.ParkOrder
	// Owner leaves out questions in the threads of others, and StartedBy those of runs that others started. Empty:
	// all.
	Owner, StartedBy string
	// PageSize is how many questions one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// Reason leaves out questions with other reasons. Empty: all.
	Reason string
	// ThreadID leaves out the questions of other threads. Empty: all.
	ThreadID spool.ThreadID
	// Tool leaves out the calls of other tools. Empty: all.
	Tool string
}

// Inbox lists the questions of the caller's tenant that wait for an answer, over all threads. It reads a page when the
// one before has been consumed, so a question that was answered meanwhile may still come. An error ends the list.
func (c *Client) Inbox(ctx context.Context, f InboxFilter) iter.Seq2[spool.Question, error] {
	return pages(func(next string) ([]spool.Question, string, error) { return c.InboxPage(ctx, f, next) })
}

// InboxPage returns one page of [Client.Inbox], and the name of the next page, which is empty after the last one. An
// empty page stands for the first one.
func (c *Client) InboxPage(ctx context.Context, f InboxFilter, page string) (questions []spool.Question, next string, err error) {
	list, err := do[struct {
		Questions []spool.Question `json:"questions"`
		Next      string           `json:"next"`
	}](ctx, c, get(inboxPath, "limit", number(pageSize(f.PageSize)), "after", page, "order", string(f.Order), "threadId", string(f.ThreadID),
		"agent", f.Agent, "tool", f.Tool, "reason", f.Reason, "startedBy", f.StartedBy, "owner", f.Owner))
	return list.Questions, list.Next, err
}
