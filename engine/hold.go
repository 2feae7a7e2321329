package engine

import (
	"context"
	"errors"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/stream"
)

// held is a thread inside a transaction, with the run that owns it. A transition reads
// it, decides, and writes it back.
type held struct {
	spool.Tx
	thread spool.Thread
	// run is the one that the transition is of: the dispatched run, or a nested one.
	run spool.Run
	// root has the dispatched run, where run is nested in it. Nil: run is that itself.
	root *held
	now  time.Time
	// random is where the ids of what the transition adds come from.
	random random
	// given is true once there are jobs of other runs than this one, which workers have
	// to be told of.
	given bool
	// out takes the items and entries of the transition in their order. Nil: no stream of a segment
	// is open, or the transition adds nothing to it.
	out *stream.List
	// unseen is true for a change of which those who follow the thread see nothing: the record,
	// the user turns, the queue, and the state stay as they were. They are not woken.
	unseen bool
	// audited are what the transaction has to append to the audit log.
	audited []*spool.AuditEntry
}

// errNoRun says that a thread exists and that no run has touched it.
var errNoRun = spool.Errorf(spool.NotFound, "Thread has no run")

// hold reads the thread of tx and the run that owns it, or did last.
func hold(tx spool.Tx, r random) (*held, error) {
	thread, err := tx.Thread()
	if err != nil {
		return nil, err
	}
	h := &held{Tx: tx, random: r, thread: thread, now: tx.Now()}
	if thread.RunID == "" {
		return h, errNoRun
	}
	h.run, err = tx.Run(thread.RunID)
	return h, err
}

// of returns the part of the transaction that a run of the tree is the subject of. It is the
// loop's no more once it has ended.
func (h *held) of(run spool.Run) (*held, error) {
	if run.RootID == "" {
		return h.tree(), nil
	}
	run, err := h.Run(run.ID)
	if err == nil && run.State.Terminal() {
		err = spool.ErrFenced
	}
	return &held{Tx: h.Tx, random: h.random, thread: h.thread, run: run, root: h.tree(), now: h.now, out: h.out}, err
}

// putUnseen is put for a change that has no entry and no user turn, and leaves the state as it
// was.
func (h *held) putUnseen() error {
	h.tree().unseen = true
	return h.put()
}

// tree returns the part of the transaction that the dispatched run is the subject of.
func (h *held) tree() *held {
	if h.root != nil {
		return h.root
	}
	return h
}

// add counts tokens for the run, and for the dispatched one, which counts all of its tree.
func (h *held) add(used spool.TokenCount) {
	h.run.Add(used)
	if h.root != nil {
		h.root.run.Add(used)
	}
}

// put writes the run back, and with a nested one the dispatched one.
func (h *held) put() error {
	if h.root != nil {
		if err := h.UpdateRun(h.root.run); err != nil {
			return err
		}
	}
	return h.UpdateRun(h.run)
}

// move changes the state of the thread and its run, which the table must allow.
func (h *held) move(to spool.State) error {
	if !h.thread.State.CanBecome(to) {
		return spool.Errorf(spool.Internal, "thread %s cannot go from %s to %s", h.thread.Key(), h.thread.State, to)
	}
	h.thread.State, h.run.State = to, to
	return nil
}

// save writes thread and run back.
func (h *held) save() error {
	if err := h.UpdateRun(h.run); err != nil {
		return err
	}
	return h.PutThread(h.thread)
}

// lease takes the thread for a worker and shuts out the one before.
func (h *held) lease(d time.Duration) {
	h.thread.Fence++
	h.thread.LeaseUntil = h.now.Add(d)
}

// letGo gives the lease up.
func (h *held) letGo() {
	h.thread.LeaseUntil = time.Time{}
	h.stopClock(h.now)
}

// item adds an item of the run to the stream of the segment.
func (h *held) item(t spool.ItemType, payload any) {
	if h.out != nil {
		h.out.Item(h.run.AgentID(), t, payload)
	}
}

// entries adds entries to the record. While a segment is open they have a place among its items.
func (h *held) entries(entries ...*spool.Entry) error {
	if h.out != nil {
		h.out.Place(entries...)
	}
	err := h.AppendEntries(entries...)
	if err == nil && h.out != nil && len(entries) > 0 {
		h.out.Behind(entries[len(entries)-1].Seq)
	}
	return err
}

// closeSegment ends the latest segment: its stream with an item, and then, in the record, the
// segment itself.
func (h *held) closeSegment(t spool.ItemType, item any, ended spool.RunEnded) error {
	h.out.End(t, item)
	return h.entries(h.runEnded(ended))
}

func (h *held) runEnded(ended spool.RunEnded) *spool.Entry {
	ended.RunID, ended.StreamID, ended.Segment = h.run.ID, h.run.Stream(), h.run.Segments
	return spool.NewEntry(spool.EntryRunEnded, h.run.ID, ended)
}

// lostStream is the stream of a worker that went away, which somebody else has to end.
type lostStream struct {
	id  spool.StreamID
	end spool.Offset
}

// loseSegment adds the entry that ends the segment of a worker that went away, and the
// model calls that went with it.
func (h *held) loseSegment(reason string) (*lostStream, error) {
	if err := h.lose(); err != nil {
		return nil, err
	}
	saved, err := record.SavedOf(h, h.run)
	if err != nil {
		return nil, err
	}
	lost := &lostStream{id: h.run.Stream(), end: stream.EndBehind(saved.Last())}
	entry := h.runEnded(spool.RunEnded{Status: spool.SegmentLost, Error: reason})
	entry.Stream, entry.After = lost.id, lost.end
	return lost, h.AppendEntries(entry)
}

// forgetStep drops the step in hand. What it has used stays used.
func (h *held) forgetStep() {
	if d := h.run.Draft; d != nil {
		h.add(d.Usage)
		h.run.Draft = nil
	}
}

// cancelReason is what the results of calls say that were cancelled by an ending.
func cancelReason(ending spool.Ending) string {
	switch ending.State {
	case spool.Cancelled:
		return "stopped"
	case spool.Completed: // by a limit, or there would be no such calls
		return string(ending.Reason)
	default:
		return "failed"
	}
}

// ticket returns a job for the next segment of the run.
func (h *held) ticket(kind spool.JobKind, after time.Duration) spool.Job {
	j := h.job(kind, after)
	j.Segment = h.run.Segments + 1
	j.Key = "run:" + string(spool.NewStreamID(h.run.ID, j.Segment))
	return j
}

func (h *held) job(kind spool.JobKind, after time.Duration) spool.Job {
	j := spool.Job{
		Tenant: h.thread.Tenant, ThreadID: h.thread.ID, RunID: h.run.ID,
		Model: h.run.Model, Agent: h.run.Agent, Kind: kind,
	}
	if after > 0 {
		j.DueAt = h.now.Add(after)
	}
	return j
}

// parks returns the parks of the tree whose calls have no result yet.
func (h *held) parks() ([]spool.Park, error) {
	all, err := h.Parks(h.tree().run.ID)
	if err != nil {
		return nil, err
	}
	waiting := all[:0]
	for _, p := range all {
		if !p.Landed && p.State != spool.ParkClosed {
			waiting = append(waiting, p)
		}
	}
	return waiting, nil
}

// closeCalls gives every call of the run that waits the result of one that will not go on.
func (h *held) closeCalls(reason string) error {
	content, err := h.closeParks(reason)
	if err != nil {
		return err
	}
	if h.tree().run.Children > 0 {
		effects, err := h.Effects(h.run.ID, h.run.Steps)
		if err != nil {
			return err
		}
		for _, e := range effects {
			if e.State != spool.EffectWaiting {
				continue
			}
			e.State, e.Result = spool.EffectDone, cancelledResult(reason)
			if err := h.PutEffect(e); err != nil {
				return err
			}
			content = append(content, resultPart(e.ToolCallID, SpawnTool, e.Result))
		}
	}
	if len(content) == 0 {
		return nil
	}
	return h.AppendMessages(h.message(spool.RoleTool, content))
}

// closeParks closes the parks of the run itself, and returns the results of their calls.
func (h *held) closeParks(reason string) (spool.Content, error) {
	parks, err := h.parks()
	if err != nil {
		return nil, err
	}
	var content spool.Content
	for _, p := range parks {
		if p.AgentID != h.run.AgentID() {
			continue
		}
		if err := h.CancelJob(expiryKey(p)); err != nil {
			return nil, err
		}
		result := expiredResult(p)
		if p.State != spool.ParkExpired {
			p.State, result = spool.ParkClosed, cancelledResult(reason)
		}
		p.Landed = true
		if err := h.PutPark(p); err != nil {
			return nil, err
		}
		if p.Reason != spool.ParkBudget { // that is of no call
			content = append(content, resultPart(p.ToolCallID, p.ToolName, result))
		}
	}
	return content, nil
}

// message returns a message of the run.
func (h *held) message(role spool.Role, content spool.Content) *spool.Message {
	return &spool.Message{
		ID: spool.MessageID(h.random.id("msg")), ThreadID: h.thread.ID, AgentID: h.run.AgentID(),
		Role: role, Content: content, RunID: h.run.ID,
	}
}

// change runs a transition of a thread that no lease protects, and tells those who
// watch the thread.
func (e *Engine) change(ctx context.Context, key spool.ThreadKey, fn func(h *held) error) error {
	given := false
	var audited []*spool.AuditEntry
	err := e.store.Update(ctx, key, 0, func(tx spool.Tx) error {
		h, err := hold(tx, e.random())
		if err != nil {
			return err
		}
		err = fn(h)
		given, audited = h.given, h.audited
		if err != nil {
			return err
		}
		return appendAudit(ctx, tx, key.Tenant, audited)
	})
	if err == nil {
		e.logAudit(ctx, audited)
		e.announce(key, given)
	}
	return err
}

// announce tells those who watch the thread that it has changed, and workers, where other
// runs than its own have got jobs.
func (e *Engine) announce(key spool.ThreadKey, given bool) {
	e.bus.Wake(key, spool.WakeRecord)
	if given {
		e.bus.Wake(spool.JobsTopic, spool.WakeJobs)
	}
}

// missing reports whether err says that the thread, or its run, does not exist.
func missing(err error) bool { return spool.CodeOf(err) == spool.NotFound }

// errUnchanged rolls a transition back that has found nothing to do.
var errUnchanged = errors.New("nothing to do")
