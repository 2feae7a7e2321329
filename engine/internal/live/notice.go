package live

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/engine/internal/walk"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// noticer derives the notices of a thread's state from the thread's row. So no state is lost for good:
// the next read of the row returns the present one.
type noticer struct {
	key       spool.ThreadKey
	state     wire.State
	run       spool.RunID
	createdAt time.Time // the thread's creation time
	queue     []wire.QueuedRun
	again     bool // the next notice is new even if the state has not changed
	// owner is the thread's owner. It is valid if the last read has set ownerRead.
	owner     string
	ownerRead bool
}

// start assumes that clients already know the present state.
func (n *noticer) start(v store.View, thread wire.Thread) (err error) {
	n.createdAt, n.state, n.run = thread.CreatedAt, thread.State, thread.RunID
	n.queue, err = record.QueueOf(v, thread, false)
	return err
}

// stateSeen is the state of a thread at the time of a read.
type stateSeen struct {
	thread wire.Thread
	queue  []wire.QueuedRun
	notice walk.PositionedFrame
	news   bool // clients do not have the notice yet
}

// look returns a notice of the state if the state has changed since the last notice.
func (n *noticer) look(v store.View) ([]walk.PositionedFrame, error) {
	s, err := n.see(v)
	if err != nil {
		return nil, err
	}
	return n.notices(s), nil
}

// see reads the state. The caller passes the result to notices.
func (n *noticer) see(v store.View) (s stateSeen, err error) {
	s.thread, err = v.Thread()
	switch {
	case err != nil:
		return s, err
	case !s.thread.CreatedAt.Equal(n.createdAt): // the thread was deleted and created again
		return s, spool.Errorf(spool.NotFound, record.ThreadNotFound)
	}
	n.owner, n.ownerRead = s.thread.Owner, true
	if s.queue, err = record.QueueOf(v, s.thread, false); err != nil {
		return s, err
	}
	s.news = n.again || s.thread.State != n.state || s.thread.RunID != n.run || !sameQueue(s.queue, n.queue)
	if s.news {
		s.notice, err = stateNotice(v, s.thread, s.queue)
	}
	return s, err
}

// notices returns the notice of a state that see has read, if clients do not have it yet.
func (n *noticer) notices(s stateSeen) []walk.PositionedFrame {
	if !s.news {
		return nil
	}
	n.state, n.run, n.queue, n.again = s.thread.State, s.thread.RunID, s.queue, false
	return []walk.PositionedFrame{s.notice}
}

// ended returns a notice of the end of the last notice's run, if the run of the next turn already has
// the thread. The thread's row never shows that end.
func (n *noticer) ended(v store.View, next spool.RunID) ([]walk.PositionedFrame, error) {
	if !n.state.Active() || n.run == next {
		return nil, nil
	}
	run, err := store.FindRun(v, n.run)
	if spool.CodeOf(err) == spool.NotFound || err == nil && !run.State.Terminal() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	thread, err := v.Thread()
	if err != nil {
		return nil, err
	}
	n.owner, n.ownerRead = thread.Owner, true
	queue, err := record.QueueOf(v, thread, false)
	if err != nil {
		return nil, err
	}
	thread.State, thread.RunID = run.State, run.ID
	state, err := stateNotice(v, thread, queue)
	if err != nil {
		return nil, err
	}
	state.Past = true
	n.state, n.run, n.queue, n.again = run.State, run.ID, queue, false
	return []walk.PositionedFrame{state}, nil
}

// begun returns a notice of the state if the turn's own run has the thread and is active. Otherwise it
// returns nothing, and the notice comes after the frames in between.
func (n *noticer) begun(v store.View, run spool.RunID) ([]walk.PositionedFrame, error) {
	thread, err := v.Thread()
	if err != nil || thread.RunID != run || !thread.State.Active() {
		return nil, err
	}
	return n.look(v)
}

// currentState returns a notice of the present state.
func currentState(v store.View) (walk.PositionedFrame, error) {
	thread, err := v.Thread()
	if err != nil {
		return walk.PositionedFrame{}, err
	}
	queue, err := record.QueueOf(v, thread, false)
	if err != nil {
		return walk.PositionedFrame{}, err
	}
	return stateNotice(v, thread, queue)
}

// sameQueue reports whether the same runs wait in the same order.
func sameQueue(a, b []wire.QueuedRun) bool {
	return slices.EqualFunc(a, b, func(a, b wire.QueuedRun) bool { return a.RunID == b.RunID })
}

// stateNotice returns a notice of the thread's state, its run and the runs that wait.
func stateNotice(v store.View, thread wire.Thread, queue []wire.QueuedRun) (walk.PositionedFrame, error) {
	change := wire.StateChange{State: thread.State, RunID: thread.RunID, Queue: queue}
	if thread.RunID != "" {
		run, err := store.FindRun(v, thread.RunID)
		if err != nil && spool.CodeOf(err) != spool.NotFound {
			return walk.PositionedFrame{}, err
		}
		change.EnqueuedAt, change.Expired = run.EnqueuedAt, run.Expired
		if thread.State != wire.Queued {
			change.StartedAt = run.StartedAt
		}
		if !thread.State.Active() {
			usage := run.TokenCount
			change.EndedAt = run.EndedAt
			change.StopReason, change.Error = run.StopReason, run.Error
			change.Usage, change.TokensUsed, change.Costs = &usage, usage.TotalTokens, run.Costs()
		}
	}
	return noticeFrame(thread.Key(), wire.NoticeStateChange, thread.RunID, change, v.Now()), nil
}

// noticeFrame returns a frame with seq 0, which moves no cursor.
func noticeFrame(
	key spool.ThreadKey, t wire.EntryType, run spool.RunID, payload any, at time.Time,
) walk.PositionedFrame {
	entry := wire.NewEntry(t, run, payload)
	entry.ThreadID, entry.CreatedAt = key.ID, at
	return walk.PositionedFrame{Frame: wire.Frame{Kind: wire.FrameThread, Event: entry}, Notice: true}
}
