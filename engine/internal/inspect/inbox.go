package inspect

import (
	"cmp"
	"context"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
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
func (r *Reader) Inbox(ctx context.Context, q spool.ParkQuery) (spool.QuestionPage, error) {
	switch q.Order {
	case "", spool.ParksByAge, spool.ParksByExpiry:
	default:
		return spool.QuestionPage{}, spool.Errorf(spool.Invalid, "there are no lists by %q", q.Order)
	}
	switch q.State {
	case "", spool.ParkOpen:
	case spool.ParkExpired:
		q.Order = spool.ParksByExpiry
	default:
		return spool.QuestionPage{}, spool.Errorf(spool.Invalid, "there are no lists of questions that are %q", q.State)
	}
	q.Limit = cmp.Or(q.Limit, usualPage)
	page := spool.QuestionPage{Questions: []spool.Question{}}
	rows, err := r.Store.Parks(ctx, q)
	if err != nil {
		return page, err
	}
	for _, row := range rows {
		if row.Runs[0].Ending != nil && q.State != spool.ParkExpired { // it is about to end
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
func (r *Reader) Question(ctx context.Context, key spool.ThreadKey, call spool.ToolCallID) (asked spool.Question, err error) {
	err = r.Store.View(ctx, key, func(v spool.View) error {
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
func openPark(v spool.View, call spool.ToolCallID) (row spool.ParkRow, err error) {
	if row.Thread, err = v.Thread(); err != nil {
		return row, err
	}
	root, err := spool.FindRun(v, row.Thread.RunID)
	if err != nil {
		return row, err
	}
	if root.State != spool.WaitingForInput || root.Ending != nil {
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
		if p.ToolCallID == call && p.State == spool.ParkOpen && v.Now().Before(p.ExpiresAt) {
			row.Park, found = p, true
		}
	}
	if !found {
		return row, ErrNoQuestion
	}
	for _, id := range row.RunIDs() {
		run, err := spool.FindRun(v, id)
		if err != nil {
			return row, err
		}
		row.Runs = append(row.Runs, run)
	}
	return row, nil
}

// question returns a park in the form for clients.
func (r *Reader) question(row spool.ParkRow) (spool.Question, error) {
	root := row.Runs[0]
	asked := spool.Question{
		ThreadID: row.Thread.ID, Title: row.Thread.Title, Owner: row.Thread.Owner, Labels: row.Thread.Labels,
		RunID: root.ID, StartedBy: root.StartedBy, Agent: root.Agent, AskedAt: row.CreatedAt, Expired: row.State == spool.ParkExpired,
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
	spool.View

	runs []spool.RunRow
}

// Runs implements [spool.View] for a query by id.
func (v rowView) Runs(q spool.RunQuery) ([]spool.RunRow, error) {
	for _, run := range v.runs {
		if run.ID == q.ID {
			return []spool.RunRow{run}, nil
		}
	}
	return nil, nil
}

// cutArguments leaves out large arguments.
func cutArguments(asked *spool.Question) {
	if size := len(asked.Arguments); size > maxShown {
		asked.ArgumentsBytes, asked.ArgumentsPreview = size, strings.ToValidUTF8(string(asked.Arguments[:previewBytes]), "")
		asked.Arguments = nil
	}
}
