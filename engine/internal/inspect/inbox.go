package inspect

import (
	"cmp"
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// usualPage is the size of a page of questions if the query has none.
	usualPage = 50
	// maxShown bounds the arguments of a question in a list, and previewBytes the preview of larger ones.
	maxShown, previewBytes = 8 << 10, 2 << 10
)

// ErrNoQuestion says that a call does not wait for an answer.
var ErrNoQuestion = spool.Errorf(spool.NotFound, "Nothing waits for this answer")

// Inbox returns a page of a tenant's questions.
func (r *Reader) Inbox(ctx context.Context, q wire.ParkQuery) (wire.QuestionPage, error) {
	switch q.Order {
	case "", wire.ParksByAge, wire.ParksByExpiry:
	default:
		return wire.QuestionPage{}, spool.Errorf(spool.Invalid, "there are no lists by %q", q.Order)
	}
	switch q.State {
	case "", wire.ParkOpen:
	case wire.ParkExpired:
		q.Order = wire.ParksByExpiry
	default:
		return wire.QuestionPage{}, spool.Errorf(spool.Invalid, "there are no lists of questions that are %q", q.State)
	}
	q.Limit = cmp.Or(q.Limit, usualPage)
	page := wire.QuestionPage{Questions: []wire.Question{}}
	rows, err := r.Store.Parks(ctx, q)
	if err != nil {
		return page, err
	}
	for _, row := range rows {
		if row.Runs[0].Ending != nil && q.State != wire.ParkExpired { // it is about to end
			continue
		}
		asked, err := r.question(row)
		if err != nil {
			return page, err
		}
		cutArguments(&asked)
		page.Questions = append(page.Questions, asked)
	}
	if len(rows) == q.Limit {
		last := rows[len(rows)-1]
		q.After, q.AfterRun, q.AfterCall = last.Time(q.Order), last.RunID, last.ToolCallID
		page.Next = &q
	}
	return page, nil
}

// Question returns the question of a call.
func (r *Reader) Question(
	ctx context.Context, key spool.ThreadKey, call spool.ToolCallID,
) (asked wire.Question, err error) {
	err = r.Store.View(ctx, key, func(v store.View) error {
		row, err := openPark(v, call)
		if err != nil {
			return err
		}
		asked, err = r.question(row)
		return err
	})
	if record.Missing(err) {
		err = ErrNoQuestion
	}
	return asked, err
}

// openPark returns the open park of a call of the thread's run.
func openPark(v store.View, call spool.ToolCallID) (row store.ParkRow, err error) {
	if row.Thread, err = v.Thread(); err != nil {
		return row, err
	}
	root, err := store.FindRun(v, row.Thread.RunID)
	if err != nil {
		return row, err
	}
	if root.State != wire.WaitingForInput || root.Ending != nil {
		return row, ErrNoQuestion
	}
	parks, err := v.Parks(root.ID)
	if err != nil {
		return row, err
	}
	found := false
	for _, p := range parks {
		if thread.FailsRun(p) {
			return row, ErrNoQuestion
		}
		if p.ToolCallID == call && p.State == wire.ParkOpen && v.Now().Before(p.ExpiresAt) {
			row.Park, found = p, true
		}
	}
	if !found {
		return row, ErrNoQuestion
	}
	for _, id := range row.RunIDs() {
		run, err := store.FindRun(v, id)
		if err != nil {
			return row, err
		}
		row.Runs = append(row.Runs, run)
	}
	return row, nil
}

// question returns a park in the form for clients.
func (r *Reader) question(row store.ParkRow) (wire.Question, error) {
	root := row.Runs[0]
	asked := wire.Question{
		ThreadID: row.Thread.ID, Title: row.Thread.Title, Owner: row.Thread.Owner, Labels: row.Thread.Labels,
		RunID: root.ID, StartedBy: root.StartedBy, Agent: root.Agent, AskedAt: row.CreatedAt,
		Expired: row.State == wire.ParkExpired,
	}
	for _, run := range row.Runs {
		asked.Path = append(asked.Path, run.Agent)
	}
	var err error
	asked.InputRequired, err = r.Rules.InputRequired(rowView{runs: row.Runs}, row.Park)
	return asked, err
}

// rowView is the view that a row has of the runs that it belongs to. It has nothing else.
type rowView struct {
	store.View

	runs []store.RunRow
}

// Runs implements [store.View] for a query by id.
func (v rowView) Runs(q wire.RunQuery) ([]store.RunRow, error) {
	for _, run := range v.runs {
		if run.ID == q.ID {
			return []store.RunRow{run}, nil
		}
	}
	return nil, nil
}

// cutArguments leaves out large arguments.
func cutArguments(asked *wire.Question) {
	if size := len(asked.Arguments); size > maxShown {
		asked.ArgumentsBytes, asked.ArgumentsPreview = size, strings.ToValidUTF8(string(asked.Arguments[:previewBytes]), "")
		asked.Arguments = nil
	}
}
