package engine

import (
	"slices"

	"github.com/spoolhq/spool"
)

// part is what a thread has of one run: the part of a snapshot that does not grow with the
// thread.
type part struct {
	thread  spool.Thread
	run     spool.Run      // the dispatched one
	ended   spool.Entry    // the RUN_ENDED entry of the segment that has ended
	stream  spool.StreamID // of that segment
	segment int64          // seq of the segment's RUN_STARTED entry
	runs    []spool.Run
	behind  spool.MessageID // the message before those of the run. Empty: there is none
	all     []spool.Message // of the run and those nested in it, without the turn that started it
	events  []spool.Entry
	open    openCalls // of a run that has not ended
	queue   []spool.QueuedRun
}

// partOf reads the part of the run of a RUN_ENDED entry. Seq is where the reader stands.
// With before, messages that were saved behind the entry are left out. It returns a
// [spool.NotFound] error for a run that is not there any more.
func partOf(v spool.View, ended spool.Entry, seq int64, before bool) (p part, err error) {
	p.ended = ended
	if p.stream, err = streamOf(ended); err != nil {
		return p, err
	}
	if p.thread, err = v.Thread(); err != nil {
		return p, err
	}
	if p.run, err = v.Run(ended.RunID); err != nil {
		return p, err
	}
	if err := p.readRuns(v); err != nil {
		return p, err
	}
	until := int64(0)
	if before {
		until = ended.Seq
	}
	if err := p.readMessages(v, until); err != nil {
		return p, err
	}
	if p.thread.State.Active() && p.thread.RunID == p.run.ID {
		entries, err := v.Entries(spool.EntryQuery{Run: p.run.ID})
		if err != nil {
			return p, err
		}
		if p.open, err = openCallsOf(v, p.thread); err != nil {
			return p, err
		}
		p.events = p.open.entries(slices.DeleteFunc(entries, func(e spool.Entry) bool { return e.Seq > seq }))
	}
	p.queue, err = queueOf(v, p.thread, true)
	return p, err
}

// readRuns reads the runs of the tree, and the one that has the thread, the newest first.
func (p *part) readRuns(v spool.View) error {
	p.runs = []spool.Run{p.run}
	if p.run.Children > 0 {
		nested, err := v.Nested(p.run.ID)
		if err != nil {
			return err
		}
		p.runs = append(p.runs, nested...)
	}
	if p.thread.RunID != p.run.ID {
		now, err := v.Run(p.thread.RunID)
		if err != nil && !missing(err) {
			return err
		}
		if err == nil {
			p.runs = append(p.runs, now)
		}
	}
	slices.Reverse(p.runs)
	return nil
}

// readMessages reads the messages of the run that were saved before the record reached
// until. Zero: all.
func (p *part) readMessages(v spool.View, until int64) error {
	starts, err := v.Entries(spool.EntryQuery{Type: spool.EntryRunStarted, Run: p.run.ID})
	if err != nil || len(starts) == 0 {
		return err
	}
	for _, start := range starts {
		if id, err := streamOf(start); err == nil && id == p.stream {
			p.segment = start.Seq
		}
	}
	since, err := v.Messages(spool.MessageQuery{SinceSeq: starts[0].Seq})
	if err != nil {
		return err
	}
	tree := make(map[spool.RunID]bool, len(p.runs))
	for _, r := range p.runs {
		tree[r.ID] = r.Root() == p.run.ID
	}
	for _, m := range since {
		if tree[m.RunID] && (until == 0 || m.AfterSeq < until) {
			p.all = append(p.all, m)
		}
	}
	q := spool.MessageQuery{Limit: 1}
	switch {
	case len(p.all) > 0:
		q.Before = p.all[0].ID
	case len(since) > 0: // of later runs
		q.Before = since[0].ID
	}
	last, err := v.Messages(q)
	if err != nil {
		return err
	}
	if len(last) > 0 {
		p.behind = last[0].ID
	}
	if len(p.all) > 0 || len(last) > 0 && last[0].RunID == p.run.ID {
		return nil
	}
	// The turn was dropped, of which the client is told later. It shows the turn still.
	turn, err := firstTurn(v, p.run.ID, starts[0].Seq)
	if turn != "" {
		p.behind = turn
	}
	return err
}

// firstTurn returns the turn with which a run began, also where it has left the view. Started is the
// seq of the run's first RUN_STARTED entry, which stands close behind the turn. Empty: there is
// none.
func firstTurn(v spool.View, run spool.RunID, started int64) (spool.MessageID, error) {
	for near := int64(8); ; near *= 8 {
		q := spool.MessageQuery{Turns: true, SinceSeq: max(started-near, 0), BeforeSeq: started}
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

// since returns the messages that were saved when the record had reached seq.
func (p *part) since(seq int64) (messages []spool.Message) {
	for _, m := range p.all {
		if m.AfterSeq >= seq {
			messages = append(messages, m)
		}
	}
	return messages
}

// snapshot returns the part as clients get it, without a stream.
func (p *part) snapshot(seq int64) *spool.Snapshot {
	if seq == 0 {
		seq = -1
	}
	return &spool.Snapshot{
		Thread: p.thread, Messages: filled(p.all), Runs: p.runs, LastEventSeq: seq, ActiveEvents: filled(p.events), Queue: p.queue,
		AfterMessageID: &p.behind,
	}
}
