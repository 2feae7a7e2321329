package chat

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/quota"
	"github.com/spoolhq/spool/wire"
)

// Summary asks a model for one summary, and collects the usage.
type Summary struct {
	*Client
	history.Summariser

	// Tenant is the tenant of the thread.
	Tenant spool.Tenant
	Model  spool.Model
	// Rows are the rows of the usage ledger.
	Rows []wire.UsageRow
	// Reserve reserves budget for the next request. Nil: the run has no budget.
	Reserve func(ctx context.Context, row wire.UsageRow, r *spool.ModelRequest) error

	limits history.Limits
	row    wire.UsageRow
}

// NewSummary returns a Summary that asks the given model. The summary is for prompts that are
// bounded by to. Limits has the settings for the bounds of the model's own window. Row has the fields that all
// ledger rows share.
func (c *Client) NewSummary(
	name string, model spool.Model, limits history.Context, m history.Meter, to history.Limits, row wire.UsageRow,
) *Summary {
	row.Kind, row.Model, row.Requested = spool.UsageCompaction, name, spool.InfoOf(model).Model
	s := &Summary{Client: c, Model: model, limits: limits.LimitsOf(name, model, 0), row: row}
	s.Summariser = history.NewSummariser(to, s.limits, m, s.ask)
	return s
}

// ask asks the model for a summary and adds a ledger row.
func (s *Summary) ask(ctx context.Context, text string) (string, error) {
	var answer strings.Builder
	row := s.row
	row.Outcome = wire.OutcomeError
	var receipt *spool.Cost
	finished := false
	request := spool.ModelRequest{
		Kind:            spool.UsageCompaction,
		Instructions:    s.Instructions(),
		Messages:        []spool.Message{{Role: spool.RoleUser, Content: spool.TextContent(text)}},
		MaxOutputTokens: int(s.limits.AnswerTokens),
	}
	turn := s.turn(quota.Call{
		Model: row.Model, Tenant: s.Tenant, Run: row.RunID, Root: row.RunID, Tokens: estimate(s.TokensOf(request), request),
	}, func(ctx context.Context) error {
		if s.Reserve == nil {
			return nil
		}
		return s.Reserve(ctx, row, &request)
	})
	calling, permit, err := turn.wait(ctx)
	if err != nil {
		return "", err
	}
	cut, err := s.listen(calling, request, func(event spool.ModelEvent) {
		switch ev := event.(type) {
		case spool.TextDelta:
			answer.WriteString(ev.Text)
		case spool.UsageSeen:
			row.Usage, receipt = possible(ev.Usage), ev.Cost
		case spool.Finish:
			row.Usage, row.ModelID, receipt, finished = possible(ev.Usage), ev.ModelID, ev.Cost, true
		}
	})
	finished = finished || cut // a cut answer is just too long, and is shortened like any long summary
	summary := strings.TrimSpace(answer.String())
	switch {
	case err == nil && ctx.Err() != nil && !finished:
		err = ctx.Err()
	case err == nil && !finished && lapsed(ctx, calling) != nil:
		err = lapsed(ctx, calling)
	case err == nil && !finished:
		err = &spool.ModelError{Message: "the summary ended without a finish"}
	case err == nil && summary == "":
		err = &spool.ModelError{Message: "the summary is empty"}
	}
	permit.Done(quota.Usage{Tokens: reported(row.Usage), Err: err})
	switch {
	case finished:
		row.Outcome = wire.OutcomeFinished
	case ctx.Err() != nil:
		row.Outcome = wire.OutcomeAborted
	}
	if finished { // what a failed request used is only known if the provider reports it
		s.guess(&row, request, summary)
	}
	row.Cost = s.Price(ctx, s.Model, request, row, receipt)
	s.Rows = append(s.Rows, row)
	return summary, err
}

// guess estimates the usage of a summary that the provider did not report, or reported as less than it can be.
func (s *Summary) guess(row *wire.UsageRow, request spool.ModelRequest, summary string) {
	if weight := history.Weigh(request); row.Usage.Input == nil || weight.Denies(*row.Usage.Input) {
		row.Guess.Input = new(history.NewMeter(nil).Of(weight))
	}
	if row.Usage.Output == nil {
		row.Guess.Output = new(guessTokens(spool.TextContent(summary)))
	}
}

// listen passes the model's events on, and reports whether it cut the answer. It turns a panic of
// the model into an error.
func (s *Summary) listen(
	ctx context.Context, r spool.ModelRequest, handle func(spool.ModelEvent),
) (cut bool, err error) {
	ctx, span := s.Telemetry.Chat(ctx, "", s.row, r)
	defer func() { span.Done(err) }()
	defer func() {
		if p := recover(); p != nil {
			err = &spool.ModelError{
				Status: 400, Message: "the model adapter panicked", Err: fmt.Errorf("panic: %v\n%s", p, debug.Stack()),
			}
		}
	}()
	room := bound{left: s.MaxAnswerBytes}
	for event, err := range span.Watch(s.Model.Stream(ctx, r)) {
		if err != nil {
			return false, err
		}
		event, whole := room.fit(event, 0)
		if event != nil {
			handle(event)
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
