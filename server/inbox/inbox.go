// Package inbox has the endpoints of the questions that wait for people: a list over all threads of a tenant, answers
// to several of them at once, and links with which one person answers one of them.
package inbox

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/auth"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Controller has the endpoints. All fields but Base and Approvers are required.
type Controller struct {
	Engine *engine.Engine
	// Auth signs and opens links.
	Auth *auth.Auth
	// Approvers are the subjects for whom there may be links: see MayApprove.
	Approvers []string
	// Base is the beginning of the URL of each endpoint. Empty: it is not known, and there is no base path.
	Base string
	Log  *slog.Logger
}

// ListInput asks for a page of questions.
type ListInput struct {
	filter

	// State is the questions that wait for an answer, or those that nobody answered in time, also of runs that are
	// over.
	State wire.ParkState `default:"open" enum:"open,expired" query:"state"`
	// Which question comes first: the one that was asked first, or the one that expires first. The expired ones
	// begin with the last one.
	Order wire.ParkOrder `default:"age" enum:"age,expiry" query:"order"`
	Limit int            `default:"50"  maximum:"1000"    minimum:"1"   query:"limit"` // The size of a page.
	// After is the field next of the page before.
	After string `query:"after"`
}

// filter selects questions of a list. A question must pass all fields.
type filter struct {
	// Only questions of this thread.
	ThreadID spool.ThreadID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"threadId"`
	// Only questions of runs of this agent, or of nested runs of it that ask themselves.
	Agent string `maxLength:"128" query:"agent"`
	// Only questions about calls of this tool.
	Tool string `maxLength:"256" query:"tool"`
	// Only questions with this reason.
	Reason string `example:"approval" maxLength:"256" query:"reason"`
	// Only questions of runs that this subject started.
	StartedBy string `maxLength:"512" query:"startedBy"`
	// Only questions in threads of this subject.
	Owner string `maxLength:"512" query:"owner"`
}

// Inbox is the answer to a list of questions.
type Inbox struct {
	Questions []wire.Question `json:"questions"` // The questions.
	// Next is the value of after for the next page. Left out: this is the last page.
	Next string `json:"next,omitempty"`
}

// List answers with the questions that wait for an answer, over all threads of the tenant: the one that was asked first
// comes first, or the one that expires first. The parameter after gets the next page. A question must pass all filters;
// use the same filters and the same order for the next page. Each has what an answer needs: its thread, its call and
// its digest. Arguments of more than 8 KiB are left out, and argumentsPreview has their beginning. A question may be
// answered in the meantime, so that an answer may still be refused.
func (c Controller) List(ctx context.Context, in ListInput) (Inbox, error) {
	q := wire.ParkQuery{
		State: in.State, Order: in.Order, ThreadID: in.ThreadID, Agent: in.Agent, Tool: in.Tool, Reason: in.Reason,
		StartedBy: in.StartedBy, Owner: in.Owner, Limit: in.Limit,
	}
	if in.After != "" {
		if err := readMark(in.After, &q); err != nil {
			return Inbox{}, err
		}
	}
	p := call.By(ctx)
	page, err := c.Engine.Inbox(call.Acting(ctx), p.Tenant, q)
	if err != nil {
		return Inbox{}, call.About(ctx, err, p.Key(""), "")
	}
	out := Inbox{Questions: page.Questions}
	if page.Next != nil {
		out.Next = markOf(*page.Next)
	}
	return out, nil
}

// markOf returns "<list>~<time>~<run>~<call>", the position from which a list continues. Only the id of a call may have
// a tilde.
func markOf(q wire.ParkQuery) string {
	return strings.Join(
		[]string{listOf(q), q.After.UTC().Format(time.RFC3339Nano), string(q.AfterRun), string(q.AfterCall)}, "~",
	)
}

// listOf names the list that a page is of: its order, or "expired".
func listOf(q wire.ParkQuery) string {
	if q.State == wire.ParkExpired {
		return string(q.State)
	}
	return string(q.Order)
}

var errMark = spool.Errorf(spool.Invalid, "after must be the next of an earlier page of the same order")

// readMark reads a text of markOf.
func readMark(mark string, q *wire.ParkQuery) error {
	parts := strings.SplitN(mark, "~", 4)
	if len(parts) < 4 || parts[0] != listOf(*q) || spool.CheckID("after", parts[2]) != nil ||
		call.CheckToolCall(spool.ToolCallID(parts[3])) != nil {
		return errMark
	}
	at, err := time.Parse(time.RFC3339Nano, parts[1])
	if err != nil || at.IsZero() {
		return errMark
	}
	q.After, q.AfterRun, q.AfterCall = at, spool.RunID(parts[2]), spool.ToolCallID(parts[3])
	return nil
}
