package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// worthwhile is the part of a prompt's room that a compaction has to take away, unless the
// provider wants it, and by which a prompt has to grow before a summary that failed is tried
// again: each attempt is paid and waited for.
const worthwhile = 10

// askFitting asks the model for the next turn with a prompt that has room in its window. A
// prompt that the provider refuses as too long before the model has said anything is made
// shorter, and asked once more. Summaries that are made on the way are added to the history.
func (l *loop) askFitting(ctx context.Context, history *history) (turn, error) {
	to := l.s.e.roomOf(l.run.Model, l.model, l.agent.MaxOutputTokens)
	fitted, err := l.fit(ctx, history, to, false)
	if err != nil {
		return turn{}, err
	}
	t, err := l.ask(ctx, history, fitted)
	if to.at == 0 || !t.refused(err) {
		return t, err
	}
	refused := err
	size := newMeter(l.run.Context).of(fitted.weight)
	concerning(l.s.e.config.Log, l.s.key, l.run.ID).InfoContext(ctx, "prompt is too long for the model",
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
	less := l.s.e.roomWith(min(to.budget, size*3/4), to.reserve)
	fitted, err = l.fit(ctx, history, less, true)
	switch {
	case err != nil:
		return turn{}, err
	case newMeter(l.run.Context).of(fitted.weight) >= size:
		refusal, _ := errors.AsType[*spool.ModelError](refused)
		return turn{}, refusal // the ledger has the attempt
	}
	return l.ask(ctx, history, fitted)
}

// refused reports whether the provider has refused the prompt as too long, before anybody
// has seen anything of an answer.
func (t *turn) refused(err error) bool {
	refused, ok := errors.AsType[*spool.ModelError](err)
	return ok && refused.TooLong() && len(t.message.Content) == 0 && len(t.ids) == 0
}

// weighed is a request and what it weighs.
type weighed struct {
	spool.ModelRequest

	weight weight
}

// weighed returns the request that a history makes.
func (l *loop) weighed(history *history) weighed {
	messages, w := history.prompt()
	r := weighed{ModelRequest: l.request(messages), weight: w}
	r.weight.add(weighAround(r.ModelRequest))
	return r
}

// fit returns the request for the next turn within a room. A history that is too long is
// summarised first, or, where must is set, one from which anything can be. Where there is no
// summary, or where it is not enough, the prompt alone is made shorter.
func (l *loop) fit(ctx context.Context, history *history, to room, must bool) (weighed, error) {
	m, request := newMeter(l.run.Context), l.weighed(history)
	size := m.of(request.weight)
	if to.at == 0 || size <= to.at && !must {
		return request, nil
	}
	c, some := history.recall.plan(m, to.tail, l.run.ID)
	again := l.unsaid == 0 || size >= l.unsaid+to.budget/worthwhile
	if some && (must || again && m.part(c.weight) >= to.budget/worthwhile) {
		summary, err := l.compact(ctx, history, c, m, to)
		switch {
		case err == nil:
			history.add(summary)
			m, request = newMeter(l.run.Context), l.weighed(history)
			size, l.unsaid = m.of(request.weight), 0
		case ctx.Err() != nil, isStoreError(err):
			return request, err
		default:
			l.unsaid = size
			concerning(l.s.e.config.Log, l.s.key, l.run.ID).WarnContext(ctx, "summarise older messages", "error", err)
		}
	}
	if size > to.budget {
		around := weigh(l.request(nil))
		request.ModelRequest = l.request(history.recall.squeeze(m, to.budget-m.part(around), l.run.ID))
		request.weight = weigh(request.ModelRequest)
	}
	return request, nil
}

// compact has older messages summarised, and saves the summary: from then on it stands for
// them in prompts. The messages stay.
func (l *loop) compact(ctx context.Context, history *history, c compaction, m meter, to room) (spool.Message, error) {
	s := l.s.e.newSummariser(l.run.Model, l.model, m, to, spool.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent,
	})
	s.reserve = func(ctx context.Context, row spool.UsageRow, r *spool.ModelRequest) error {
		_, err := l.reserve(ctx, row, s.model, r, s.meter.of(weigh(*r)))
		return err
	}
	text, failed := s.summary(ctx, c)
	var summary *spool.Message
	err := l.commit(ctx, func(tx *thread.Tx) error {
		if err := tx.ChargeCompactions(s.rows); err != nil {
			return err
		}
		if failed != nil {
			return tx.Put()
		}
		summary = tx.Message(spool.RoleSystem, summaryContent(text, c))
		if err := tx.Store.AppendMessages(summary); err != nil {
			return err
		}
		if err := tx.Append(compacted(tx.Run, summary, c)); err != nil {
			return err
		}
		if tx.Run.Context = l.counted(append(slices.Clip(history.messages), *summary), m); tx.Run.Context != nil {
			tx.Run.Context.Messages += history.unread
		}
		return tx.Put()
	})
	if err := errors.Join(err, failed); err != nil {
		return spool.Message{}, err
	}
	return *summary, nil
}

func summaryContent(text string, c compaction) spool.Content {
	return spool.Content{{Type: spool.PartSummary, Text: text, ThroughMessageID: c.through}}
}

func compacted(run spool.Run, summary *spool.Message, c compaction) *spool.Entry {
	return spool.NewEntry(spool.EntryContextCompacted, run.Root(), spool.ContextCompacted{
		SummarizedMessages: len(c.gone), MessageID: summary.ID, AgentID: run.AgentID(),
	})
}

// counted returns the count of a prompt that nobody has counted, by one that somebody has.
// There is none without.
func (l *loop) counted(history []spool.Message, m meter) *spool.ContextCount {
	if m.tokens == 0 {
		return nil
	}
	w := weigh(l.request(recallOf(history).messages()))
	return &spool.ContextCount{
		Tokens: m.part(w), Bytes: w.bytes, Images: w.images,
		Messages: len(history), LastMessageID: history[len(history)-1].ID,
	}
}
