package engine

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// missedTurns bounds how many user turns a client is told of when it connects.
const missedTurns = 100

// mainAgent is the agent of the dispatched runs. Its user turns are those of people.
var mainAgent spool.AgentID

// noticer derives notices from a thread's row and messages: nobody sends them, so none
// can be lost for longer than the next look.
type noticer struct {
	key   spool.ThreadKey
	state spool.State
	run   spool.RunID
	made  time.Time       // when the thread was
	seq   int64           // of the record at the last look
	turn  spool.MessageID // the last user turn seen
	queue []spool.QueuedRun
}

// start takes the present for known.
func (n *noticer) start(v spool.View, thread spool.Thread) error {
	turns, err := v.Messages(spool.MessageQuery{Agent: &mainAgent, Role: spool.RoleUser, Limit: 1})
	if err != nil {
		return err
	}
	if len(turns) > 0 {
		n.turn = turns[0].ID
	}
	if n.queue, err = queueOf(v, thread, false); err != nil {
		return err
	}
	n.made = thread.CreatedAt
	n.state, n.run, n.seq = thread.State, thread.RunID, thread.LastSeq
	return nil
}

// look returns notices of what has changed since the last look: new user turns, then the
// state.
func (n *noticer) look(v spool.View) ([]walked, error) {
	thread, err := v.Thread()
	switch {
	case err != nil:
		return nil, err
	case !thread.CreatedAt.Equal(n.made): // deleted, and made again
		return nil, spool.Errorf(spool.NotFound, threadNotFound)
	}
	queue, err := queueOf(v, thread, false)
	if err != nil {
		return nil, err
	}
	if thread.State == n.state && thread.RunID == n.run && sameQueue(queue, n.queue) {
		return nil, nil
	}
	var frames []walked
	if thread.RunID != n.run {
		turns, err := v.Messages(spool.MessageQuery{Agent: &mainAgent, Role: spool.RoleUser, SinceSeq: n.seq, Limit: missedTurns})
		if err != nil {
			return nil, err
		}
		for _, m := range behind(turns, n.turn) {
			frames = append(frames, turnNotice(n.key, m))
			n.turn = m.ID
		}
	}
	state, err := stateNotice(v, thread, queue)
	if err != nil {
		return nil, err
	}
	n.state, n.run, n.seq, n.queue = thread.State, thread.RunID, thread.LastSeq, queue
	return append(frames, state), nil
}

// behind returns the turns behind a known one, all of them when it is not there.
func behind(turns []spool.Message, known spool.MessageID) []spool.Message {
	for i, m := range turns {
		if m.ID == known {
			return turns[i+1:]
		}
	}
	return turns
}

// hello returns what a client is told first: the state, and the user turns that it has
// missed. Those are the ones behind its last message, or else the ones that were saved
// since the record stood where the client does.
func hello(v spool.View, key spool.ThreadKey, seq int64, last spool.MessageID) ([]walked, error) {
	thread, err := v.Thread()
	if err != nil {
		return nil, err
	}
	queue, err := queueOf(v, thread, false)
	if err != nil {
		return nil, err
	}
	state, err := stateNotice(v, thread, queue)
	if err != nil {
		return nil, err
	}
	q := spool.MessageQuery{Agent: &mainAgent, Role: spool.RoleUser, After: last, Limit: missedTurns}
	if last == "" {
		q.SinceSeq = seq
	}
	turns, err := v.Messages(q)
	if err != nil {
		return nil, err
	}
	frames := []walked{state}
	for _, m := range turns {
		frames = append(frames, turnNotice(key, m))
	}
	return frames, nil
}

// sameQueue reports whether the same runs wait in the same order.
func sameQueue(a, b []spool.QueuedRun) bool {
	return slices.EqualFunc(a, b, func(a, b spool.QueuedRun) bool { return a.RunID == b.RunID })
}

// stateNotice tells the state of the thread, with what there is to know of its run and of
// those that wait.
func stateNotice(v spool.View, thread spool.Thread, queue []spool.QueuedRun) (walked, error) {
	change := spool.StateChange{State: thread.State, RunID: thread.RunID, Queue: queue}
	if thread.RunID != "" {
		run, err := v.Run(thread.RunID)
		if err != nil && !missing(err) {
			return walked{}, err
		}
		switch {
		case thread.State == spool.Queued:
			change.EnqueuedAt = run.EnqueuedAt
		case thread.State.Active():
			change.StartedAt = run.StartedAt
		default:
			usage := run.TokenCount
			change.StartedAt, change.EndedAt = run.StartedAt, run.EndedAt
			change.StopReason, change.Error = run.StopReason, run.Error
			change.Usage, change.TokensUsed, change.Costs = &usage, usage.TotalTokens, run.Costs()
		}
	}
	return noticeFrame(thread.Key(), spool.NoticeStateChange, thread.RunID, change, v.Now()), nil
}

// turnNotice tells of a user turn. Its fields are the message's, flat.
func turnNotice(key spool.ThreadKey, m spool.Message) walked {
	return noticeFrame(key, spool.NoticeMessageAppended, m.RunID, m, m.CreatedAt)
}

// noticeFrame returns a frame with seq 0, which moves no cursor.
func noticeFrame(key spool.ThreadKey, t spool.EntryType, run spool.RunID, payload any, at time.Time) walked {
	entry := &spool.Entry{ThreadID: key.ID, Type: t, Payload: encode(payload), CreatedAt: at, RunID: run}
	return walked{Frame: spool.Frame{Kind: spool.FrameThread, Event: entry}}
}
