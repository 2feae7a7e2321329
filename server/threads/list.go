package threads

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// ListInput asks for a list of threads, or a page of one.
type ListInput struct {
	threadFilter

	Limit  int    `maximum:"1000" minimum:"1" query:"limit"` // The size of a page. Left out: all.
	Before string `query:"before"`                           // The field next of the page before.
}

// threadFilter selects threads of a list. A thread must pass all fields.
type threadFilter struct {
	// Only threads in this state.
	State wire.State `enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" query:"state"`
	// Only threads whose last run has questions that nobody answered in time.
	Expired bool `query:"expired"`
	// Only threads whose title has this text. Upper and lower case of ASCII letters are equal.
	Text string `example:"invoice" maxLength:"200" query:"q"`
	// Only threads of this subject.
	Owner string `maxLength:"512" query:"owner"`
	// Only threads with this label, as key:value. It may be repeated.
	Labels []string `query:"label"`
	// Only threads that changed after this time.
	UpdatedAfter time.Time `example:"2026-01-02T03:04:05Z" query:"updatedAfter"`
	// Only threads that changed last before this time.
	UpdatedBefore time.Time `example:"2026-01-02T03:04:05Z" query:"updatedBefore"`
}

// ThreadList is the answer to a list of threads.
type ThreadList struct {
	Threads []wire.Thread `json:"threads"` // The threads, the last updated one first.
	// Next is the value of before for the next page. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// List answers with the tenant's threads, the last updated one first: all of them, or pages of limit threads. The
// parameter before gets the next page. A thread must pass all filters. Use the same filters for the next page.
func (c Controller) List(ctx context.Context, in ListInput) (ThreadList, error) {
	q := wire.ThreadQuery{
		Limit: in.Limit, Owner: in.Owner,
		State: in.State, Expired: in.Expired, Title: in.Text, UpdatedAfter: in.UpdatedAfter, UpdatedBefore: in.UpdatedBefore,
	}
	var err error
	if q.Labels, err = parseLabels(in.Labels); err != nil {
		return ThreadList{}, err
	}
	if in.Before != "" {
		var id string
		if q.Before, id, err = call.ParseTimeMark(in.Before); err != nil {
			return ThreadList{}, err
		}
		q.BeforeID = spool.ThreadID(id)
	}
	p := call.By(ctx)
	list, err := c.Engine.Threads(call.Acting(ctx), p.Tenant, q)
	if err != nil {
		return ThreadList{}, call.About(ctx, err, p.Key(""), "")
	}
	out := ThreadList{Threads: list}
	if list == nil {
		out.Threads = []wire.Thread{} // JSON has an empty array, and not null
	}
	if q.Limit > 0 && len(list) == q.Limit {
		last := list[q.Limit-1]
		out.Next = call.TimeMark(last.UpdatedAt, string(last.ID))
	}
	return out, nil
}
