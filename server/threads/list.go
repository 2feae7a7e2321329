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

	Limit  int    `doc:"The size of a page. Left out: all." maximum:"1000" minimum:"1" query:"limit"`
	Before string `doc:"The field next of the page before." query:"before"`
}

// threadFilter selects threads of a list. A thread must pass all fields.
type threadFilter struct {
	State         wire.State `doc:"Only threads in this state."                                                              enum:"IDLE,QUEUED,RUNNING,WAITING_FOR_INPUT,COMPLETED,CANCELLED,FAILED" query:"state"`
	Expired       bool       `doc:"Only threads whose last run has questions that nobody answered in time."                  query:"expired"`
	Text          string     `doc:"Only threads whose title has this text. Upper and lower case of ASCII letters are equal." example:"invoice"                                                       maxLength:"200"       query:"q"`
	Owner         string     `doc:"Only threads of this subject."                                                            maxLength:"512"                                                         query:"owner"`
	Labels        []string   `doc:"Only threads with this label, as key:value. It may be repeated."                          query:"label"`
	UpdatedAfter  time.Time  `doc:"Only threads that changed after this time."                                               example:"2026-01-02T03:04:05Z"                                          query:"updatedAfter"`
	UpdatedBefore time.Time  `doc:"Only threads that changed last before this time."                                         example:"2026-01-02T03:04:05Z"                                          query:"updatedBefore"`
}

// ThreadList is the answer to a list of threads.
type ThreadList struct {
	Threads []wire.Thread `doc:"The threads, the last updated one first." json:"threads"`
	// Next is the before parameter of the next page. Empty: there is none.
	Next string `doc:"The value of before for the next page. Left out: this is the last page." json:"next,omitempty"`
}

// List answers GET /api/threads with the tenant's threads, the last updated first: all of
// them, or a page of limit, which before continues.
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
