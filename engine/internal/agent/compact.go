package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// worthwhile is the part of a prompt's room that a compaction has to take away, unless the
// provider wants it, and by which a prompt has to grow before a summary that failed is tried
// again: each attempt is paid and waited for.
const worthwhile = 10

// askFitting asks the model for the next turn with a prompt that has room in its window. A
// prompt that the provider refuses as a context overflow before the model has said anything is made
// shorter, and asked once more. Summaries that are made on the way are added to the history.
func (l *asker) askFitting(ctx context.Context, past *history.Messages) (chat.Turn, error) {
	to := l.s.runner.Compactor.Context.RoomOf(l.run.Model, l.model, l.agent.MaxOutputTokens)
	fitted, err := l.fit(ctx, past, to, false)
	if err != nil {
		return chat.Turn{}, err
	}
	t, err := l.ask(ctx, past, fitted)
	if to.At == 0 || !t.Overflowed(err) {
		return t, err
	}
	refused := err
	size := history.NewMeter(l.run.Context).Of(fitted.weight)
	l.s.runner.Concerning(l.s.Key, l.run.ID).InfoContext(ctx, "prompt is too long for the model",
		"tokens", size, "error", refused)
	if err := l.update(ctx, func(tx *thread.Tx) error {
		if err := recordCut(tx, refused, spool.OutcomeError); err != nil {
			return err
		}
		return tx.Put()
	}); err != nil {
		return t, err
	}
	// What the window is believed to have is wrong: what was refused tells more.
	less := l.s.runner.Compactor.Context.RoomWith(min(to.Budget, size*3/4), to.Reserve)
	fitted, err = l.fit(ctx, past, less, true)
	switch {
	case err != nil:
		return chat.Turn{}, err
	case history.NewMeter(l.run.Context).Of(fitted.weight) >= size:
		refusal, _ := errors.AsType[*spool.ModelError](refused)
		return chat.Turn{}, refusal // the ledger has the attempt
	}
	return l.ask(ctx, past, fitted)
}

// weighed is a request and what it weighs.
type weighed struct {
	spool.ModelRequest

	weight history.Weight
}

// weighed returns the request that a history makes.
func (l *asker) weighed(past *history.Messages) weighed {
	messages, w := past.Prompt()
	r := weighed{ModelRequest: l.agent.Request(l.run, messages), weight: w}
	r.weight.Add(history.WeighAround(r.ModelRequest))
	return r
}

// fit returns the request for the next turn within a room. A history that is too long is
// summarised first, or, where must is set, one from which anything can be. Where there is no
// summary, or where it is not enough, the prompt alone is made shorter.
func (l *asker) fit(ctx context.Context, past *history.Messages, to history.Room, must bool) (weighed, error) {
	m, request := history.NewMeter(l.run.Context), l.weighed(past)
	size := m.Of(request.weight)
	if to.At == 0 || size <= to.At && !must {
		return request, nil
	}
	c, some := past.Recall.Plan(m, to.Tail, l.run.ID)
	again := l.failed == 0 || size >= l.failed+to.Budget/worthwhile
	if some && (must || again && m.Part(c.Weight) >= to.Budget/worthwhile) {
		summary, err := l.compact(ctx, past, c, m, to)
		switch {
		case err == nil:
			past.Add(summary)
			m, request = history.NewMeter(l.run.Context), l.weighed(past)
			size, l.failed = m.Of(request.weight), 0
		case ctx.Err() != nil, isStoreError(err):
			return request, err
		default:
			l.failed = size
			l.s.runner.Concerning(l.s.Key, l.run.ID).WarnContext(ctx, "summarise older messages", "error", err)
		}
	}
	if size > to.Budget {
		around := history.Weigh(l.agent.Request(l.run, nil))
		request.ModelRequest = l.agent.Request(l.run, past.Recall.Squeeze(m, to.Budget-m.Part(around), l.run.ID))
		request.weight = history.Weigh(request.ModelRequest)
	}
	return request, nil
}

// compact has older messages summarised, and saves the summary: from then on it stands for
// them in prompts. The messages stay.
func (l *asker) compact(ctx context.Context, past *history.Messages, c history.Compaction, m history.Meter, to history.Room) (spool.Message, error) {
	s := l.s.runner.Compactor.NewSummary(l.run.Model, l.model, m, to, spool.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent,
	})
	s.Reserve = func(ctx context.Context, row spool.UsageRow, r *spool.ModelRequest) error {
		_, err := l.reserve(ctx, row, s.Model, r, s.TokensOf(*r))
		return err
	}
	text, failed := s.Summary(ctx, c)
	var summary *spool.Message
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := tx.ChargeCompactions(s.Rows); err != nil {
			return err
		}
		if failed != nil {
			return tx.Put()
		}
		summary = tx.Message(spool.RoleSystem, c.Content(text))
		if err := tx.Store.AppendMessages(summary); err != nil {
			return err
		}
		if err := tx.Append(compact.Entry(tx.Run, summary, c)); err != nil {
			return err
		}
		if tx.Run.Context = compact.Count(l.agent, l.run, append(slices.Clip(past.All), *summary), m); tx.Run.Context != nil {
			tx.Run.Context.Messages += past.Unread
		}
		return tx.Put()
	})
	if err := errors.Join(err, failed); err != nil {
		return spool.Message{}, err
	}
	return *summary, nil
}

// history reads the messages of the loop's agent.
func (l *asker) history(ctx context.Context) (h *history.Messages, err error) {
	err = l.s.runner.Store.View(ctx, l.s.Key, func(v spool.View) (err error) {
		h, err = history.Read(v, l.run)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = storeError{err}
	}
	return h, err
}
