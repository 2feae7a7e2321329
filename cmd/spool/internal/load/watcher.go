package load

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

// watcher is a client that follows one run, and checks the order of its frames.
type watcher struct {
	a *attempt
	// cut is after how many frames the watcher drops its connection and resumes. Zero: never.
	cut int64
	// onToken is called with the first token. Nil: it is not called.
	onToken func(at time.Time)
	// shown is what a client shows of the thread. Nil: the text is not checked.
	shown *view.Thread

	frames                   int64
	last                     time.Time
	gaps, repeats, snapshots int
	refused, begun           bool

	cursor wire.Cursor
	seq    int64
	stream wire.StreamID
	offset wire.Offset
	// open says that the end item of the stream has not come.
	open bool
	end  end
}

// end is the end of a run, or of the wait for it.
type end struct {
	at     time.Time
	status wire.SegmentStatus
	reason string
}

// known reports whether the run has ended, or needs an answer.
func (e end) known() bool { return e.status != "" }

// failure names an end that was not wanted.
func (e end) failure() string {
	switch e.status {
	case wire.SegmentParked:
		return "run: waits for an answer"
	case wire.SegmentStopped:
		return "run: stopped by somebody else"
	}
	return strings.TrimSuffix("run: failed, "+e.reason, ", ")
}

// cutAfter is the least number of frames after which a watcher drops its connection.
const cutAfter = 4

func (a *attempt) newWatcher(n int) *watcher {
	w := &watcher{a: a}
	if a.resumes[n] {
		w.cut = cutAfter + int64(n%5)
	}
	if n == 0 && a.checked {
		w.shown = view.New(nil)
	}
	return w
}

// follow follows the run until it has ended, and returns how. The end is not known if ctx or the stream
// ended before it.
func (w *watcher) follow(ctx context.Context) end {
	defer func() { w.a.m.watched(w) }()
	leave := func() {}
	defer func() { leave() }()
	for {
		cut, at := false, w.cursor
		o := client.FollowOptions{Cursor: &at, OnRetry: w.retried}
		for f, err := range w.a.l.c.Server.Follow(ctx, w.a.thread, o) {
			if err != nil {
				if ctx.Err() == nil {
					w.a.m.fail(failure("follow", err))
				}
				return w.end
			}
			if w.frames == 0 {
				leave = w.a.m.connect()
			}
			if w.see(f, time.Now()); w.end.known() {
				return w.end
			}
			if cut = w.cut > 0 && w.frames >= w.cut; cut {
				break
			}
		}
		if !cut {
			return w.end
		}
		w.cut = 0
		w.a.m.change(func(r *Rung) { r.Watchers.Resumed++ })
	}
}

// retried counts the end of a connection that was not wanted. A refusal is an error, once.
func (w *watcher) retried(err error, _ time.Duration) {
	w.a.m.change(func(r *Rung) { r.Watchers.Retries++ })
	if client.StatusOf(err) != 0 && !w.refused {
		w.refused = true
		w.a.m.fail(failure("follow", err))
	}
}

// see checks a frame, and finds the first token and the end of the run.
func (w *watcher) see(f wire.Frame, at time.Time) {
	w.frames++
	w.last = at
	if w.shown != nil && w.shown.Apply(f) != nil {
		w.shown = nil
		w.a.m.fail("follow: a frame cannot be shown")
	}
	if f.Cursor != nil {
		w.cursor = *f.Cursor
	}
	switch f.Kind {
	case wire.FrameSnapshot:
		w.seeSnapshot(f.Snapshot)
	case wire.FrameStream:
		w.seeItem(f.StreamID, f.Item, at)
	case wire.FrameThread:
		w.seeEntry(f.Event, at)
	}
}

// seeSnapshot moves the place to that of a snapshot, which stands for the frames before it.
func (w *watcher) seeSnapshot(s *wire.Snapshot) {
	w.snapshots++
	if s.AfterMessageID != nil { // of one run: it moves nothing
		return
	}
	w.seq = max(w.seq, s.LastEventSeq)
	if s.Stream != nil {
		w.stream, w.open = s.Stream.StreamID, s.Stream.End == nil
		if s.Stream.Offset != nil {
			w.offset = *s.Stream.Offset
		}
	}
}

func (w *watcher) seeItem(stream wire.StreamID, item *wire.Item, at time.Time) {
	switch {
	case stream != w.stream:
		if item.Type != wire.ItemRunStarted {
			w.gaps++
		}
		w.stream, w.open = stream, true
	case item.Offset.Compare(w.offset) <= 0:
		w.repeats++
	case !w.open: // after its end
		w.repeats++
	}
	w.offset = item.Offset
	if item.Type.End() {
		w.open = false
	}
	if token(item) && !w.begun {
		if w.begun = true; w.onToken != nil {
			w.onToken(at)
		}
	}
}

// token reports whether an item has a part of an answer.
func token(item *wire.Item) bool {
	switch item.Type {
	case wire.ItemTextContent, wire.ItemReasoningContent, wire.ItemToolStart, wire.ItemSubagentEvent:
		return true
	}
	return false
}

func (w *watcher) seeEntry(e *wire.Entry, at time.Time) {
	if e.Seq == 0 {
		w.seeNotice(e, at)
		return
	}
	switch {
	case e.Seq <= w.seq:
		w.repeats++
	case e.Seq > w.seq+1:
		w.gaps += int(e.Seq - w.seq - 1)
	}
	w.seq = max(w.seq, e.Seq)
	switch e.Type {
	case wire.EntryRunEnded:
		w.seeRunEnded(e, at)
	case wire.EntryRunRefused:
		w.end = end{at, wire.SegmentError, "refused by the worker"}
	}
}

func (w *watcher) seeRunEnded(e *wire.Entry, at time.Time) {
	var ended wire.RunEnded
	if json.Unmarshal(e.Payload, &ended) != nil {
		w.a.m.fail("follow: an entry cannot be read")
		return
	}
	switch ended.Status {
	case wire.SegmentFinished, wire.SegmentStopped:
		if w.open || ended.StreamID != w.stream { // the end of the stream comes before the entry
			w.gaps++
		}
		w.end = end{at, ended.Status, string(ended.StopReason)}
	case wire.SegmentParked:
		w.end = end{at, ended.Status, ""}
	default: // the run is tried again, or the next notice says that it has failed
		w.end.reason = brief(ended.Error)
	}
}

// seeNotice finds the end of a run that failed, or that ended before a worker had it.
func (w *watcher) seeNotice(e *wire.Entry, at time.Time) {
	var s wire.StateChange
	if e.Type != wire.NoticeStateChange || json.Unmarshal(e.Payload, &s) != nil || s.RunID != w.a.runID {
		return
	}
	switch {
	case s.State == wire.Failed:
		w.end = end{at, wire.SegmentError, cmp.Or(brief(s.Error), w.end.reason, string(s.StopReason))}
	case s.State == wire.Cancelled && w.stream == "":
		w.end = end{at, wire.SegmentStopped, ""}
	}
}

// reasonLength bounds the reason in the name of an error.
const reasonLength = 60

// brief returns the beginning of a text.
func brief(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if runes := []rune(line); len(runes) > reasonLength {
		return string(runes[:reasonLength]) + "…"
	}
	return line
}

// answers returns the texts of the model.
func answers(messages []spool.Message) string {
	var b strings.Builder
	for _, m := range messages {
		if m.Role == spool.RoleAssistant {
			b.WriteString(m.Text())
			b.WriteByte('\n')
		}
	}
	return b.String()
}
