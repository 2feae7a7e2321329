package engine

import (
	"context"
	"errors"
	"log/slog"
	"slices"

	"github.com/spoolhq/spool"
)

// worthwhile is the part of a prompt's room that a compaction has to take away, unless the
// provider wants it, and by which a prompt has to grow before a summary that failed is tried
// again: each attempt is paid and waited for.
const worthwhile = 10

// askFitting asks the model for the next turn with a prompt that has room in its window. A
// prompt that the provider refuses as too long before the model has said anything is made
// shorter, and asked once more. It returns the history with the summaries that were made.
func (l *loop) askFitting(ctx context.Context, history []spool.Message) (turn, []spool.Message, error) {
	to := l.s.e.roomOf(l.run.Model, l.model, l.agent.MaxOutputTokens)
	history, request, err := l.fit(ctx, history, to, false)
	if err != nil {
		return turn{}, history, err
	}
	t, err := l.ask(ctx, history, request)
	if to.at == 0 || !t.refused(err) {
		return t, history, err
	}
	refused := err
	size := newMeter(l.run.Context).of(weigh(request))
	concerning(l.s.e.config.Log, l.s.key, l.run.ID).InfoContext(ctx, "prompt is too long for the model",
		"tokens", size, "error", refused)
	if err := l.update(ctx, func(h *held) error {
		if err := h.recordCut(refused, spool.OutcomeError); err != nil {
			return err
		}
		return h.put()
	}); err != nil {
		return t, history, err
	}
	// What the window is believed to have is wrong: what was refused tells more.
	less := l.s.e.roomWith(min(to.budget, size*3/4), to.reserve)
	history, request, err = l.fit(ctx, history, less, true)
	switch {
	case err != nil:
		return turn{}, history, err
	case newMeter(l.run.Context).of(weigh(request)) >= size:
		refusal, _ := errors.AsType[*spool.ModelError](refused)
		return turn{}, history, refusal // the ledger has the attempt
	}
	t, err = l.ask(ctx, history, request)
	return t, history, err
}

// refused reports whether the provider has refused the prompt as too long, before anybody
// has seen anything of an answer.
func (t *turn) refused(err error) bool {
	refused, ok := errors.AsType[*spool.ModelError](err)
	return ok && refused.TooLong() && len(t.message.Content) == 0 && len(t.ids) == 0
}

// fit returns the request for the next turn within a room. A history that is too long is
// summarised first, or, where must is set, one from which anything can be. Where there is no
// summary, or where it is not enough, the prompt alone is made shorter.
func (l *loop) fit(ctx context.Context, history []spool.Message, to room, must bool) ([]spool.Message, spool.ModelRequest, error) {
	m, r := newMeter(l.run.Context), recallOf(history)
	request := l.request(r.messages())
	size := m.of(weigh(request))
	if to.at == 0 || size <= to.at && !must {
		return history, request, nil
	}
	c, some := r.plan(m, to.tail, l.run.ID)
	again := l.unsaid == 0 || size >= l.unsaid+to.budget/worthwhile
	if some && (must || again && m.part(c.weight) >= to.budget/worthwhile) {
		summary, err := l.compact(ctx, history, c, m, to)
		switch {
		case err == nil:
			history = append(history, summary)
			m, r = newMeter(l.run.Context), recallOf(history)
			request = l.request(r.messages())
			size, l.unsaid = m.of(weigh(request)), 0
		case ctx.Err() != nil, isStoreError(err):
			return history, request, err
		default:
			l.unsaid = size
			concerning(l.s.e.config.Log, l.s.key, l.run.ID).WarnContext(ctx, "summarise older messages", "error", err)
		}
	}
	if size > to.budget {
		around := weigh(l.request(nil))
		request = l.request(r.squeeze(m, to.budget-m.part(around), l.run.ID))
	}
	return history, request, nil
}

// compact has older messages summarised, and saves the summary: from then on it stands for
// them in prompts. The messages stay.
func (l *loop) compact(ctx context.Context, history []spool.Message, c compaction, m meter, to room) (spool.Message, error) {
	s := l.s.e.newSummariser(l.run.Model, l.model, m, to, spool.UsageRow{
		RunID: l.run.Root(), AgentID: l.run.AgentID(), Agent: l.run.Agent,
	})
	s.reserve = func(ctx context.Context, row spool.UsageRow, r *spool.ModelRequest) error {
		_, err := l.reserve(ctx, row, s.model, r, s.meter.of(weigh(*r)))
		return err
	}
	text, failed := s.summary(ctx, c)
	var summary *spool.Message
	err := l.s.writer.among(ctx, func(place func() spool.Offset) (seq int64, err error) {
		err = l.update(ctx, func(h *held) error {
			seq = 0
			if err := h.addCompactions(s.rows, l.s.e.config.Log); err != nil {
				return err
			}
			if failed != nil {
				return h.put()
			}
			summary = h.message(spool.RoleSystem, summaryContent(text, c))
			if err := h.AppendMessages(summary); err != nil {
				return err
			}
			entry := compacted(h.run, summary, c)
			entry.Stream, entry.After = l.s.writer.key.ID, place()
			if err := h.AppendEntries(entry); err != nil {
				return err
			}
			seq = entry.Seq
			h.run.Context = l.counted(append(slices.Clip(history), *summary), m)
			return h.put()
		})
		return seq, err
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

// addCompactions adds what summaries have used to the ledger and to the run.
func (h *held) addCompactions(rows []spool.UsageRow, log *slog.Logger) error {
	for _, row := range rows {
		h.add(row.Usage.Count())
		if err := h.charge(row, log); err != nil {
			return err
		}
	}
	return nil
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
