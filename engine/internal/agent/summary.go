package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/telemetry"
)

// summaryModel is the model that makes a summary, and what it has used. It is for one summary.
type summaryModel struct {
	history.Summariser

	model spool.Model
	room  history.Room
	bytes int // bounds the model's answer
	// row is what all rows of the ledger have in common.
	row  spool.UsageRow
	rows []spool.UsageRow
	// price returns what a row costs, nil where that is not known.
	price func(ctx context.Context, row spool.UsageRow, receipt *spool.Cost) *spool.Cost
	// reserve sets aside what the next question may use. Nil: there is no budget.
	reserve   func(ctx context.Context, row spool.UsageRow, r *spool.ModelRequest) error
	telemetry *telemetry.Recorder
}

// summaryModel returns the model of the summaries for the prompts of a model with that room. Name is
// that model's, unless the configuration has another one for summaries.
func (r *Runner) summaryModel(name string, model spool.Model, m history.Meter, to history.Room, row spool.UsageRow) *summaryModel {
	if r.CompactionModel != "" {
		name = r.CompactionModel
		model = r.Registry.Models[name]
	}
	row.Kind, row.Model, row.Requested = spool.UsageCompaction, name, requestedOf(model)
	s := &summaryModel{model: model, room: r.Limits.RoomOf(name, model, 0), row: row, telemetry: r.Telemetry, bytes: r.MaxAnswerBytes}
	s.price = func(ctx context.Context, row spool.UsageRow, receipt *spool.Cost) *spool.Cost {
		return r.price(ctx, model, row, receipt)
	}
	s.Summariser = history.NewSummariser(to, s.room, m, s.ask)
	return s
}

// ask asks the model for a summary, and writes down what that has used.
func (s *summaryModel) ask(ctx context.Context, text string) (string, error) {
	var said strings.Builder
	row := s.row
	row.Outcome = spool.OutcomeError
	var receipt *spool.Cost
	finished := false
	request := spool.ModelRequest{
		Kind:            spool.UsageCompaction,
		Instructions:    s.Instructions(),
		Messages:        []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(text)}},
		MaxOutputTokens: int(s.room.Reserve),
	}
	if s.reserve != nil {
		if err := s.reserve(ctx, row, &request); err != nil {
			return "", err
		}
	}
	cut, err := s.listen(ctx, request, func(event spool.ModelEvent) {
		switch ev := event.(type) {
		case spool.TextDelta:
			said.WriteString(ev.Text)
		case spool.UsageSeen:
			row.Usage, receipt = ev.Usage, ev.Cost
		case spool.Finish:
			row.Usage, row.ModelID, receipt, finished = ev.Usage, ev.ModelID, ev.Cost, true
		}
	})
	finished = finished || cut // it is shortened as one that is too long by less
	summary := strings.TrimSpace(said.String())
	switch {
	case err == nil && ctx.Err() != nil && !finished:
		err = ctx.Err()
	case err == nil && !finished:
		err = &spool.ModelError{Message: "the summary ended without a finish"}
	case err == nil && summary == "":
		err = &spool.ModelError{Message: "the summary is empty"}
	}
	switch {
	case finished:
		row.Outcome = spool.OutcomeFinished
	case ctx.Err() != nil:
		row.Outcome = spool.OutcomeAborted
	}
	row.Cost = s.price(ctx, row, receipt)
	s.rows = append(s.rows, row)
	return summary, err
}

// listen hands what the model says on, and reports whether it had to be cut. A panic of the
// model is an error.
func (s *summaryModel) listen(ctx context.Context, r spool.ModelRequest, hear func(spool.ModelEvent)) (cut bool, err error) {
	ctx, span := s.telemetry.Chat(ctx, "", s.row, r)
	defer func() { span.Done(err) }()
	defer func() {
		if p := recover(); p != nil {
			err = &spool.ModelError{Status: 400, Message: "the model adapter panicked", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack())}
		}
	}()
	room := bound{left: s.bytes}
	for event, err := range span.Watch(s.model.Stream(ctx, r)) {
		if err != nil {
			return false, err
		}
		event, whole := room.take(event, 0)
		if event != nil {
			hear(event)
		}
		if !whole {
			span.Cut()
			return true, nil
		}
		if _, end := event.(spool.Finish); end {
			return false, nil
		}
	}
	return false, nil
}
