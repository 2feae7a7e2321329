package walk

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// runEnd is what became of a run behind the end of a segment.
type runEnd struct {
	over bool // it has gone on
	open bool // it has not ended
	// asked is true when its calls were waiting for an answer.
	asked bool
	// closes is true when clients may still show calls that are closed by now.
	closes bool
}

// endOf reads what became of the run of a RUN_ENDED entry. Of nearly all runs there is nothing
// to tell, so this reads no message.
func endOf(v spool.View, ended spool.Entry) (end runEnd, err error) {
	id, err := record.StreamOf(ended)
	if err != nil {
		return end, err
	}
	thread, err := v.Thread()
	if err != nil {
		return end, err
	}
	run, err := v.Run(ended.RunID)
	switch {
	case err != nil:
		return end, err
	case run.Stream() != id:
		return runEnd{over: true}, nil
	case !run.State.Terminal():
		return runEnd{open: true}, nil
	}
	end.asked = record.StatusOf(ended) == spool.SegmentParked && thread.RunID == run.ID
	if end.closes = end.asked || run.Children > 0; end.closes {
		return end, nil
	}
	ids, err := record.Encoded(v).MessageIDs(spool.MessageQuery{Run: run.ID, SinceSeq: ended.Seq, Limit: 1})
	end.closes = len(ids) > 0
	return end, err
}

// leftView reports whether the messages of a run whose last RUN_ENDED entry is ended have left the
// view by seq. A MESSAGES_DROPPED entry there takes the last turn, and all behind it.
func leftView(v spool.View, ended, seq int64) (bool, error) {
	dropped, err := v.Entries(spool.EntryQuery{Type: spool.EntryMessagesDropped, After: ended, Limit: 1})
	return err == nil && len(dropped) > 0 && dropped[0].Seq <= seq, err
}
