package client

import (
	"context"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

const inboxPath = "/api/agent/inbox"

// InboxFilter selects questions of a list. A question must pass all fields.
type InboxFilter struct {
	// Agent leaves out questions of other agents: of the run's, or of the nested run that asks. Empty: all.
	Agent string
	// Order says which question comes first. Defaults to [wire.ParksByAge].
	Order wire.ParkOrder
	// Owner leaves out questions in the threads of others, and StartedBy those of runs that others started. Empty:
	// all.
	Owner, StartedBy string
	// PageSize is how many questions one request reads, from 1 to 1000. Defaults to 100.
	PageSize int
	// Reason leaves out questions with other reasons. Empty: all.
	Reason string
	// State is [wire.ParkExpired] for the questions that nobody answered in time, the last one first. Defaults to
	// [wire.ParkOpen].
	State wire.ParkState
	// ThreadID leaves out the questions of other threads. Empty: all.
	ThreadID spool.ThreadID
	// Tool leaves out the calls of other tools. Empty: all.
	Tool string
}

// Inbox lists the questions of the caller's tenant that wait for an answer, or that have expired, over all threads.
// It reads a page when the one before has been consumed, so a question that was answered meanwhile may still come. An
// error ends the list.
func (c *Client) Inbox(ctx context.Context, f InboxFilter) iter.Seq2[wire.Question, error] {
	return pages(func(next string) ([]wire.Question, string, error) { return c.InboxPage(ctx, f, next) })
}

// InboxPage returns one page of [Client.Inbox], and the name of the next page, which is empty after the last one. An
// empty page stands for the first one.
func (c *Client) InboxPage(
	ctx context.Context, f InboxFilter, page string,
) (questions []wire.Question, next string, err error) {
	list, err := do[struct {
		Questions []wire.Question `json:"questions"`
		Next      string          `json:"next"`
	}](ctx, c, get(inboxPath, "limit", number(pageSize(f.PageSize)), "after", page, "order", string(f.Order), "threadId",
		string(f.ThreadID),
		"state", string(f.State), "agent", f.Agent, "tool", f.Tool, "reason", f.Reason, "startedBy", f.StartedBy, "owner",
		f.Owner))
	return list.Questions, list.Next, err
}

// InboxAnswer answers one question of a list. Its Digest is required.
type InboxAnswer struct {
	// ThreadID is the thread of the question. Required.
	ThreadID spool.ThreadID `json:"threadId"`
	RespondRequest
}

// InboxResult is the result of one answer.
type InboxResult struct {
	ThreadID   spool.ThreadID   `json:"threadId"`
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	// Delivered is true if this answer counts.
	Delivered bool `json:"delivered"`
	// Reason says why the answer does not count, such as [wire.ReasonAnswered]. Empty: it counts, or Code is set.
	Reason string `json:"reason"`
	// Error says the same to a person.
	Error string `json:"error"`
	// Code is the code of an error: [spool.Invalid] for a wrong answer, or that of a failure. Empty: no error.
	Code spool.Code `json:"code"`
}

// maxAnswers is how many answers one request has.
const maxAnswers = 100

// AnswerAll answers several questions, in requests of up to 100 answers. The results are in the order of the answers.
// An answer that is refused, wrong or fails does not stop the others. If a request fails, AnswerAll returns the results
// of the requests before it, and its error: the answers of that request may count or not. They can be sent again: an
// answer that counts already is refused then with [wire.ReasonAnswered] or [wire.ReasonNoPark].
func (c *Client) AnswerAll(ctx context.Context, answers []InboxAnswer) ([]InboxResult, error) {
	var results []InboxResult
	for some := range slices.Chunk(answers, maxAnswers) {
		q := post(inboxPath+"/answers", struct {
			Answers []InboxAnswer `json:"answers"`
		}{some})
		q.refusals = nil
		got, err := do[struct {
			Results []InboxResult `json:"results"`
		}](ctx, c, q)
		if err != nil {
			return results, err
		}
		results = append(results, got.Results...)
	}
	return results, nil
}

// LinkRequest asks for a link to one question.
type LinkRequest struct {
	// ThreadID, ToolCallID and Approver are required. Approver is the subject that answers with the link.
	ThreadID   spool.ThreadID
	ToolCallID spool.ToolCallID
	Approver   string
	// Digest is that of the question that was shown, so that there is no link to another one. Empty: it is not
	// compared.
	Digest string
	// ExpiresIn is how long the link works, from a minute to 24 hours, and never longer than the question waits.
	// Defaults to 24 hours.
	ExpiresIn time.Duration
}

// InboxLink is a link to one question. Whoever has its URL can answer: keep it out of logs.
type InboxLink struct {
	// URL begins with the path if the server does not know its public URL.
	URL       string    `json:"url"`
	ExpiresAt time.Time `json:"expiresAt"`
	// ID names the link for [Client.RevokeLink].
	ID wire.LinkID `json:"linkId"`
}

// Links lists the links that the caller has made, or those of all makers of its tenant for an admin. It has no links
// that have expired or were revoked.
func (c *Client) Links(ctx context.Context) iter.Seq2[wire.QuestionLink, error] {
	const size = 100
	return pages(func(after string) ([]wire.QuestionLink, string, error) {
		list, err := do[struct {
			Links []wire.QuestionLink `json:"links"`
		}](ctx, c, get(inboxPath+"/links", "limit", number(size), "after", after))
		next := ""
		if len(list.Links) == size {
			next = string(list.Links[size-1].ID)
		}
		return list.Links, next, err
	})
}

// RevokeLink ends a link before its time. It returns a [spool.NotFound] error for a link that is over, and for one of
// another maker unless the caller is an admin.
func (c *Client) RevokeLink(ctx context.Context, id wire.LinkID) error {
	_, err := do[wire.QuestionLink](ctx, c,
		request{method: http.MethodDelete, path: inboxPath + "/links", query: url.Values{"linkId": {string(id)}}})
	return err
}

// CreateLink returns a link with which the approver answers one question in a browser. It returns a [spool.NotFound]
// error if the call does not wait for an answer, and a [spool.Conflict] error for another question and for an approver
// that may not answer.
func (c *Client) CreateLink(ctx context.Context, in LinkRequest) (InboxLink, error) {
	lasts := ""
	if in.ExpiresIn != 0 {
		lasts = in.ExpiresIn.String()
	}
	return do[InboxLink](ctx, c, request{method: http.MethodPost, path: inboxPath + "/links", body: struct {
		ThreadID   spool.ThreadID   `json:"threadId"`
		ToolCallID spool.ToolCallID `json:"toolCallId"`
		Approver   string           `json:"approver"`
		Digest     string           `json:"digest,omitempty"`
		ExpiresIn  string           `json:"expiresIn,omitempty"`
	}{in.ThreadID, in.ToolCallID, in.Approver, in.Digest, lasts}})
}
