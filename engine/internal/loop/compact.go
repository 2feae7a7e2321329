package loop

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/active"
	"github.com/spoolhq/spool/engine/internal/chat"
	"github.com/spoolhq/spool/engine/internal/compact"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// worthwhile is the fraction of a prompt's room (one tenth) that a compaction has to free, unless
// the provider refused the prompt. A prompt has to grow by the same fraction before a failed
// summary is tried again, because each attempt costs money and time.
const worthwhile = 10

// askFitting asks the model for the next turn with a prompt that fits into its context window. If the
// provider refuses the prompt as a context overflow before any part of an answer came, askFitting
// shortens the prompt and asks once more. It adds new summaries to the history.
func (a *asker) askFitting(ctx context.Context, past *history.Messages) (chat.Turn, error) {
	to := a.models.Compactor.Context.LimitsOf(a.run.Row().ModelInUse(), a.model, a.run.Agent().MaxOutputTokens)
	room := int64(0)
	if answer := a.run.Row().Resume; answer != nil && answer.Room > 0 { // the same prompt again
		room = answer.Room
		to = a.models.Compactor.Context.LimitsWith(room, to.AnswerTokens)
	}
	fitted, err := a.fit(ctx, past, to, false)
	fitted.room = room
	if err != nil {
		return chat.Turn{}, err
	}
	t, err := a.ask(ctx, past, fitted)
	if to.At == 0 || !t.Overflowed(err) {
		return t, err
	}
	refused := err
	size := history.NewMeter(a.run.Row().Context).Of(fitted.weight)
	a.run.Log().InfoContext(ctx, "prompt is too long for the model",
		"tokens", size, "error", refused)
	if err := a.run.Update(ctx, func(tx *thread.Tx) error {
		if err := chargeCutOff(tx, refused, wire.OutcomeError, false); err != nil {
			return err
		}
		return tx.Put()
	}); err != nil {
		return t, err
	}
	// The assumed window is wrong: the refused size is a better bound.
	less := a.models.Compactor.Context.LimitsWith(min(to.Budget, size*3/4), to.AnswerTokens)
	fitted, err = a.fit(ctx, past, less, true)
	fitted.room = less.Budget
	switch {
	case err != nil:
		return chat.Turn{}, err
	case history.NewMeter(a.run.Row().Context).Of(fitted.weight) >= size:
		refusal, _ := errors.AsType[*spool.ModelError](refused)
		return chat.Turn{}, refusal // the ledger already has the attempt
	}
	return a.ask(ctx, past, fitted)
}

// weightedRequest is a request with its estimated size.
type weightedRequest struct {
	spool.ModelRequest

	weight history.Weight
	// room is the bound of a prompt that is shortened because the provider refused the whole one. Zero: it is not.
	room int64
}

// weigh returns the request for a history.
func (a *asker) weigh(past *history.Messages) weightedRequest {
	messages, w := past.Prompt()
	messages, prompts := a.withPrompts(messages)
	w.Add(prompts)
	r := weightedRequest{ModelRequest: a.request(messages), weight: w}
	r.weight.Add(a.around.Weigh(r.ModelRequest))
	return r
}

// fit returns a request for the next turn that fits within the limits. It first summarises a history
// that is too long. With must, it summarises any history that can be summarised. If the request is
// still too large, fit shortens the prompt, and leaves the stored messages as they are.
func (a *asker) fit(
	ctx context.Context, past *history.Messages, to history.Limits, must bool,
) (weightedRequest, error) {
	m, request := history.NewMeter(a.run.Row().Context), a.weigh(past)
	size := m.Of(request.weight)
	if to.At == 0 || size <= to.At && !must {
		return request, nil
	}
	if cleared, err := a.clear(ctx, past, m, to, size); cleared || err != nil {
		return a.weigh(past), err
	}
	c, some := past.Recall.Plan(m, to.Tail, a.run.Row().ID, record.Answers(a.run.Row()))
	again := a.failed == 0 || size >= a.failed+to.Budget/worthwhile
	if a.run.Row().Resume != nil && !must { // another prompt would lose the answer that the run asks for again
		some = false
	}
	if some && (must || again && m.Part(c.Weight) >= to.Budget/worthwhile) {
		summary, err := a.compact(ctx, past, c, m, to)
		switch {
		case err == nil:
			past.Add(summary)
			m, request = history.NewMeter(a.run.Row().Context), a.weigh(past)
			size, a.failed = m.Of(request.weight), 0
		case ctx.Err() != nil, active.IsStoreError(err):
			return request, err
		default:
			a.failed = size
			a.run.Log().WarnContext(ctx, "summarise older messages", "error", err)
		}
	}
	if size > to.Budget {
		around := history.Weigh(a.run.Agent().Request(a.run.Row(), nil))
		squeezed, _ := a.withPrompts(past.Recall.Squeeze(m, to.Budget-m.Part(around), record.Answers(a.run.Row())))
		request.ModelRequest = a.request(squeezed)
		request.weight = history.Weigh(request.ModelRequest)
	}
	return request, nil
}

// clear leaves old results of tools out of the prompt, if that alone makes it short enough. Each clearing changes the
// beginning of the prompt, which its provider has cached, so it has to free as much as a summary. What is cleared is
// saved before the model is asked, so that every worker sends the same prompt.
func (a *asker) clear(
	ctx context.Context, past *history.Messages, m history.Meter, to history.Limits, size int64,
) (bool, error) {
	through, weight := past.Clearable(m, to.Tail, a.run.Row().ID)
	if freed := m.Part(weight); a.run.Row().Resume != nil || freed < to.Budget/worthwhile || size-freed > to.At {
		return false, nil
	}
	err := a.run.Update(ctx, func(tx *thread.Tx) error {
		tx.Run.Cleared = through
		return tx.PutUnseen()
	})
	if err == nil {
		past.Clear(through)
	}
	return err == nil, err
}

// compact asks a model for a summary of older messages and saves it. The summary replaces these
// messages in prompts. The messages stay in the store.
func (a *asker) compact(
	ctx context.Context, past *history.Messages, c history.Compaction, m history.Meter, to history.Limits,
) (spool.Message, error) {
	s := a.models.Compactor.NewSummary(a.run.Row().ModelInUse(), a.model, m, to, wire.UsageRow{
		RunID: a.run.Row().Root(), AgentID: a.run.Row().AgentID(), Agent: a.run.Row().Agent,
	})
	s.Tenant = a.run.Key().Tenant
	s.Reserve = func(ctx context.Context, row wire.UsageRow, r *spool.ModelRequest) error {
		_, err := a.reserve(ctx, row, s.Model, r, s.TokensOf(*r))
		return err
	}
	c.Gone = past.Originals(c.Gone)
	text, failed := s.Summary(ctx, c)
	var summary *spool.Message
	err := a.run.Commit(ctx, func(tx *thread.Tx) error {
		if err := tx.ChargeCompactions(s.Rows); err != nil {
			return err
		}
		if failed != nil {
			return tx.Put()
		}
		summary = tx.Message(spool.RoleSystem, c.Content(text))
		summary.RunID = record.Answers(a.run.Row()) // prompts keep the turn of that run
		err := tx.Write(store.Changes{
			Messages: []*spool.Message{summary}, Entries: []*wire.Entry{compact.Entry(tx.Run, summary, c)},
		})
		if err != nil {
			return err
		}
		tx.Run.Cleared = "" // the summary covers what was cleared
		if tx.Run.Context = compact.Count(
			a.run.Agent(), a.run.Row(), append(slices.Clip(past.All), *summary), m,
		); tx.Run.Context != nil {
			tx.Run.Context.Messages += past.Unread
		}
		return tx.Put()
	})
	if err := errors.Join(err, failed); err != nil {
		return spool.Message{}, err
	}
	return *summary, nil
}

// history reads the messages of the run's agent, unless they are known.
func (a *asker) history(ctx context.Context) (h *history.Messages, err error) {
	if a.known != nil {
		return history.Of(a.run.Row(), a.known, a.polls), nil
	}
	err = a.run.Host().Store.View(ctx, a.run.Key(), func(v store.View) (err error) {
		h, err = history.Read(v, a.run.Row(), a.polls)
		return err
	})
	if err != nil && ctx.Err() == nil {
		err = active.FromStore(err)
	}
	return h, err
}
