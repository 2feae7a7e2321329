package engine

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// CompactResult is the answer to [Engine.Compact]. A refusal is not an error.
type CompactResult struct {
	Compacted bool `json:"compacted"`
	// Reason is one of the constants named Reason, empty where the history was compacted.
	Reason string `json:"reason,omitempty"`
	Error  string `json:"error,omitempty"`
	// SummarizedMessages counts the messages that the model sees no more as they were said.
	SummarizedMessages int `json:"summarizedMessages,omitempty"`
}

// idle is a thread that no run has, as it was read.
type idle struct {
	run     spool.Run
	history []spool.Message
	last    spool.MessageID // of all messages, nested runs' included
}

// Compact has the older messages of a thread summarised now, however short its history is,
// and leaves the newest ones, up to [Config.ContextTailShare] of the prompt, as they are. The
// model is asked by the calling process, once at a time for a thread. The thread must have no active run, and nothing may
// be said on it meanwhile: else nothing changes, and the result tells why. An error is one of
// the store, or of the model, which is [spool.Unavailable].
func (e *Engine) Compact(ctx context.Context, key spool.ThreadKey) (CompactResult, error) {
	var was idle
	err := e.store.View(ctx, key, func(v spool.View) (err error) {
		was, err = readIdle(v)
		return err
	})
	if err != nil {
		return compactRefused(err)
	}
	end, ok := e.compacting.begin(key) // only for who may know of the thread
	if !ok {
		return compactRefused(&refusal{ReasonCompacting, "The thread is being summarised already"})
	}
	defer end()
	if err := e.checkRoom(ctx, key.Tenant); err != nil {
		return CompactResult{}, err
	}
	agent, err := e.agent(was.run.Agent)
	if err != nil {
		return CompactResult{}, err
	}
	l := e.newLoop(&segment{e: e, key: key}, was.run)
	m, r := newMeter(was.run.Context), recallOf(was.history)
	to := e.roomOf(was.run.Model, l.model, agent.MaxOutputTokens)
	size := min(to.budget, m.of(weigh(l.request(r.messages()))))
	c, some := r.plan(m, int64(float64(size)*e.config.ContextTailShare), "")
	if !some {
		return compactRefused(&refusal{ReasonNothingToCompact, "There is nothing to summarise"})
	}
	s := e.newSummariser(was.run.Model, l.model, m, to, spool.UsageRow{Agent: was.run.Agent})
	text, failed := s.summary(ctx, c)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	err = e.change(saving, key, func(h *held) error {
		if failed != nil {
			return h.addRows(s.rows)
		}
		return e.saveIdle(h, l, was, text, c, m, s.rows)
	})
	if changed, ok := errors.AsType[*refusal](err); ok { // what was asked is paid for nevertheless
		if err := e.change(saving, key, func(h *held) error { return h.addRows(s.rows) }); err != nil && !missing(err) {
			return CompactResult{}, err
		}
		return compactRefused(changed)
	}
	switch {
	case err != nil:
		return compactRefused(err)
	case failed != nil && ctx.Err() != nil:
		return CompactResult{}, spool.Wrap(spool.Canceled, "Canceled", failed)
	case failed != nil:
		return CompactResult{}, &spool.Error{Code: spool.Unavailable, Message: "The summary failed", Err: failed}
	}
	return CompactResult{Compacted: true, SummarizedMessages: len(c.gone)}, nil
}

// readIdle reads a thread, which must have no active run.
func readIdle(v spool.View) (idle, error) {
	thread, err := v.Thread()
	switch {
	case err != nil:
		return idle{}, err
	case thread.State.Active():
		return idle{}, &refusal{ReasonActiveRun, spool.ErrActiveRun.Message}
	case thread.RunID == "":
		return idle{}, &refusal{ReasonNothingToCompact, "There is nothing to summarise"}
	}
	run, err := v.Run(thread.RunID)
	if err != nil {
		return idle{}, err
	}
	all, err := v.Messages(spool.MessageQuery{})
	if err != nil {
		return idle{}, err
	}
	was := idle{run: run}
	if len(all) > 0 {
		was.last = all[len(all)-1].ID
	}
	was.history = slices.DeleteFunc(all, func(m spool.Message) bool { return m.AgentID != "" })
	return was, nil
}

// saveIdle saves the summary of a thread that must be as it was.
func (e *Engine) saveIdle(h *held, l *loop, was idle, text string, c compaction, m meter, rows []spool.UsageRow) error {
	newest, err := h.Messages(spool.MessageQuery{Limit: 1})
	switch {
	case err != nil:
		return err
	case h.thread.State.Active():
		return &refusal{ReasonActiveRun, spool.ErrActiveRun.Message}
	case h.run.ID != was.run.ID, len(newest) != 1, newest[0].ID != was.last:
		return &refusal{ReasonChanged, "The thread has changed meanwhile"}
	}
	summary := h.message(spool.RoleSystem, summaryContent(text, c))
	summary.RunID = "" // its run has ended
	entry := compacted(h.run, summary, c)
	entry.RunID = ""
	if err := h.AppendMessages(summary); err != nil {
		return err
	}
	if err := h.AppendEntries(entry); err != nil {
		return err
	}
	h.run.Context = l.counted(append(slices.Clip(was.history), *summary), m)
	if err := h.addRows(rows); err != nil {
		return err
	}
	return h.UpdateRun(h.run)
}

// addRows adds to the ledger what no run has used.
func (h *held) addRows(rows []spool.UsageRow) error {
	for _, row := range rows {
		if err := h.AddUsage(row); err != nil {
			return err
		}
	}
	return nil
}

// compactRefused turns what stands against a compaction into a result.
func compactRefused(err error) (CompactResult, error) {
	if no, ok := errors.AsType[*refusal](err); ok {
		return CompactResult{Reason: no.reason, Error: no.text}, nil
	}
	if missing(err) {
		return CompactResult{Reason: ReasonNotFound, Error: record.ThreadNotFound}, nil
	}
	return CompactResult{}, err
}
