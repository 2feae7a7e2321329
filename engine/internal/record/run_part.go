package record

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// RunPart is the part of a thread that belongs to one run. Its size does not grow with the thread.
type RunPart struct {
	Thread  wire.Thread
	Run     store.RunRow  // the dispatched run
	Ended   wire.Entry    // the RUN_ENDED entry of the segment
	Stream  wire.StreamID // the stream of that segment
	Segment int64         // seq of the segment's RUN_STARTED entry
	runs    []wire.Run
	before  spool.MessageID // the message before the run's messages, or empty
	all     []spool.Message // of the run and its nested runs, without the run's user turn
	events  []wire.Entry
	Open    OpenCalls // the open calls of a run that has not ended
	queue   []wire.QueuedRun
}

// ReadRunPart reads the part of a thread that belongs to the run of a RUN_ENDED entry. Its reader is at
// seq. If seq is before the entry, the part has no messages that were saved after the entry.
// ReadRunPart returns a [spool.NotFound] error for a run that does not exist any more.
func ReadRunPart(v store.View, ended wire.Entry, seq int64) (p RunPart, err error) {
	p.Ended = ended
	if p.Stream, err = StreamOf(ended); err != nil {
		return p, err
	}
	if p.Thread, err = v.Thread(); err != nil {
		return p, err
	}
	if p.Run, err = store.FindRun(v, ended.RunID); err != nil {
		return p, err
	}
	if err := p.readRuns(v); err != nil {
		return p, err
	}
	until := int64(0)
	if seq < ended.Seq {
		until = ended.Seq
	}
	if err := p.readMessages(v, until); err != nil {
		return p, err
	}
	if p.Thread.State.Active() && p.Thread.RunID == p.Run.ID {
		entries, err := v.Entries(store.EntryQuery{Run: p.Run.ID})
		if err != nil {
			return p, err
		}
		if p.Open, err = OpenCallsOf(v, p.Thread); err != nil {
			return p, err
		}
		p.events = p.Open.Entries(slices.DeleteFunc(entries, func(e wire.Entry) bool { return e.Seq > seq }))
	}
	p.queue, err = QueueOf(v, p.Thread, true)
	return p, err
}

// readRuns reads the runs of the tree, and the run that has the thread, the newest first.
func (p *RunPart) readRuns(v store.View) error {
	p.runs = []wire.Run{p.Run.Run}
	if p.Run.Children > 0 {
		nested, err := Nested(v, p.Run.ID)
		if err != nil {
			return err
		}
		for _, r := range nested {
			p.runs = append(p.runs, r.Run)
		}
	}
	if p.Thread.RunID != p.Run.ID {
		now, err := store.FindRun(v, p.Thread.RunID)
		if err != nil && !Missing(err) {
			return err
		}
		if err == nil {
			p.runs = append(p.runs, now.Run)
		}
	}
	slices.Reverse(p.runs)
	return nil
}

// readMessages reads the messages of the run that were saved before the record reached until. A zero
// until stands for all messages.
func (p *RunPart) readMessages(v store.View, until int64) error {
	starts, err := v.Entries(store.EntryQuery{Type: wire.EntryRunStarted, Run: p.Run.ID})
	if err != nil || len(starts) == 0 {
		return err
	}
	for _, start := range starts {
		if id, err := StreamOf(start); err == nil && id == p.Stream {
			p.Segment = start.Seq
		}
	}
	since, err := v.Messages(store.MessageQuery{SinceSeq: starts[0].Seq})
	if err != nil {
		return err
	}
	tree := make(map[spool.RunID]bool, len(p.runs))
	for _, r := range p.runs {
		tree[r.ID] = r.Root() == p.Run.ID
	}
	for _, m := range since {
		if tree[m.RunID] && (until == 0 || m.AfterSeq < until) {
			p.all = append(p.all, m)
		}
	}
	q := store.MessageQuery{Limit: 1}
	switch {
	case len(p.all) > 0:
		q.Before = p.all[0].ID
	case len(since) > 0: // messages of later runs
		q.Before = since[0].ID
	}
	last, err := v.Messages(q)
	if err != nil {
		return err
	}
	if len(last) > 0 {
		p.before = last[0].ID
	}
	if len(p.all) > 0 || len(last) > 0 && last[0].RunID == p.Run.ID {
		return nil
	}
	// The turn was dropped. The client still shows it, because the MESSAGES_DROPPED entry comes later.
	turn, err := firstTurn(v, p.Run.ID, starts[0].Seq)
	if turn != "" {
		p.before = turn
	}
	return err
}

// firstTurn returns the id of the user turn with which a run began, or "" if it began without one. It
// also finds a turn that the view has dropped. Started is the seq of the run's first RUN_STARTED entry,
// which comes shortly after the turn.
func firstTurn(v store.View, run spool.RunID, started int64) (spool.MessageID, error) {
	for near := int64(8); ; near *= 8 {
		q := store.MessageQuery{Turns: true, SinceSeq: max(started-near, 0), BeforeSeq: started}
		turns, err := v.Messages(q)
		for _, m := range turns {
			if m.RunID == run {
				return m.ID, err
			}
		}
		if err != nil || q.SinceSeq == 0 {
			return "", err
		}
	}
}

// Since returns the messages that were saved when the record had reached seq, or later.
func (p *RunPart) Since(seq int64) (messages []spool.Message) {
	for _, m := range p.all {
		if m.AfterSeq >= seq {
			messages = append(messages, m)
		}
	}
	return messages
}

// Snapshot returns the part in the form that clients get, without a stream.
func (p *RunPart) Snapshot(seq int64) *wire.Snapshot {
	if seq == 0 {
		seq = -1
	}
	return &wire.Snapshot{
		Thread: p.Thread, Messages: NonNil(p.all), Runs: p.runs, LastEventSeq: seq, ActiveEvents: NonNil(p.events),
		Queue: p.queue, AfterMessageID: &p.before,
	}
}
