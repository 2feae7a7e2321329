package agent

import (
	"context"
	"errors"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/change"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/thread"
)

// idle is a thread that no run has, as it was read.
type idle struct {
	run     spool.Run
	history []spool.Message
	last    spool.MessageID // of all messages, nested runs' included
}

// Compact has the older messages of a thread that no run has summarised now.
func (r *Runner) Compact(ctx context.Context, key spool.ThreadKey) (spool.CompactResult, error) {
	var was idle
	err := r.Store.View(ctx, key, func(v spool.View) (err error) {
		was, err = readIdle(v)
		return err
	})
	if err != nil {
		return compactRefused(err)
	}
	end, ok := r.compacting.begin(key) // only for who may know of the thread
	if !ok {
		return compactRefused(thread.Refuse(spool.ReasonCompacting, "The thread is being summarised already"))
	}
	defer end()
	if err := r.CheckRoom(ctx, key.Tenant); err != nil {
		return spool.CompactResult{}, err
	}
	agent, err := r.Registry.ByName(was.run.Agent)
	if err != nil {
		return spool.CompactResult{}, err
	}
	l := r.newLoop(&segment{runner: r, key: key}, was.run)
	m, recall := history.NewMeter(was.run.Context), history.RecallOf(was.history)
	to := r.Limits.RoomOf(was.run.Model, l.model, agent.MaxOutputTokens)
	size := min(to.Budget, m.Of(history.Weigh(l.request(recall.Messages()))))
	c, some := recall.Plan(m, int64(float64(size)*r.Limits.TailShare), "")
	if !some {
		return compactRefused(thread.Refuse(spool.ReasonNothingToCompact, "There is nothing to summarise"))
	}
	s := r.newSummary(was.run.Model, l.model, m, to, spool.UsageRow{Agent: was.run.Agent})
	text, failed := s.Summary(ctx, c)
	saving, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	_, err = change.Update(saving, r.Threads, key, func(tx *thread.Tx) (struct{}, error) {
		if failed != nil {
			return struct{}{}, addRows(tx, s.Rows)
		}
		return struct{}{}, l.saveIdle(tx, was, text, c, m, s.Rows)
	})
	if changed, ok := errors.AsType[*thread.Refusal](err); ok { // what was asked is paid for nevertheless
		_, err := change.Update(saving, r.Threads, key, func(tx *thread.Tx) (struct{}, error) { return struct{}{}, addRows(tx, s.Rows) })
		if err != nil && !record.Missing(err) {
			return spool.CompactResult{}, err
		}
		return compactRefused(changed)
	}
	switch {
	case err != nil:
		return compactRefused(err)
	case failed != nil && ctx.Err() != nil:
		return spool.CompactResult{}, spool.Wrap(spool.Canceled, "Canceled", failed)
	case failed != nil:
		return spool.CompactResult{}, &spool.Error{Code: spool.Unavailable, Message: "The summary failed", Err: failed}
	}
	return spool.CompactResult{Compacted: true, SummarizedMessages: len(c.Gone)}, nil
}

// readIdle reads a thread, which must have no active run.
func readIdle(v spool.View) (idle, error) {
	t, err := v.Thread()
	switch {
	case err != nil:
		return idle{}, err
	case t.State.Active():
		return idle{}, thread.Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	case t.RunID == "":
		return idle{}, thread.Refuse(spool.ReasonNothingToCompact, "There is nothing to summarise")
	}
	run, err := v.Run(t.RunID)
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
func (l *loop) saveIdle(tx *thread.Tx, was idle, text string, c history.Compaction, m history.Meter, rows []spool.UsageRow) error {
	newest, err := tx.Store.Messages(spool.MessageQuery{Limit: 1})
	switch {
	case err != nil:
		return err
	case tx.Thread.State.Active():
		return thread.Refuse(spool.ReasonActiveRun, spool.ErrActiveRun.Message)
	case tx.Run.ID != was.run.ID, len(newest) != 1, newest[0].ID != was.last:
		return thread.Refuse(spool.ReasonChanged, "The thread has changed meanwhile")
	}
	summary := tx.Message(spool.RoleSystem, c.Content(text))
	summary.RunID = "" // its run has ended
	entry := compacted(tx.Run, summary, c)
	entry.RunID = ""
	if err := tx.Store.AppendMessages(summary); err != nil {
		return err
	}
	if err := tx.Store.AppendEntries(entry); err != nil {
		return err
	}
	tx.Run.Context = l.counted(append(slices.Clip(was.history), *summary), m)
	if err := addRows(tx, rows); err != nil {
		return err
	}
	return tx.Store.UpdateRun(tx.Run)
}

// addRows adds to the ledger what no run has used.
func addRows(tx *thread.Tx, rows []spool.UsageRow) error {
	for _, row := range rows {
		if err := tx.Store.AddUsage(row); err != nil {
			return err
		}
	}
	return nil
}

// compactRefused turns what stands against a compaction into a result.
func compactRefused(err error) (spool.CompactResult, error) {
	if no, ok := errors.AsType[*thread.Refusal](err); ok {
		return spool.CompactResult{Reason: no.Reason, Error: no.Text}, nil
	}
	if record.Missing(err) {
		return spool.CompactResult{Reason: spool.ReasonNotFound, Error: record.ThreadNotFound}, nil
	}
	return spool.CompactResult{}, err
}
