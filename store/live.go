package store

import (
	"context"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Live has the parts of a backend that may be lost: run streams, and wake-ups. Nothing in it is the truth. If
// a stream, an item or a wake-up is lost, its readers get a snapshot or find the change at their next poll.
//
// It is optional for a backend that one process uses: the engine then keeps streams in memory and wakes
// within the process. [Backend.Shared] says when it is not.
//
// A run stream has the short-lived items of one segment, and is written by one worker. A call for a stream
// that never existed or was removed returns an [ErrStreamGone] error. A stream can only be found under its
// own thread.
//
// A stream that is gone stays gone, and none of its items comes back. A reader that gets [ErrStreamGone] may
// go on without them. Only after a deletion of its thread may the engine open the stream of the same name again,
// which is then another one: a reader may find it empty or gone.
//
// A Live is safe for concurrent use. No method is called within a transaction of a [Store].
type Live interface {
	// Open creates an empty stream. Opening an open stream does nothing. Opening a closed stream is an
	// [ErrStreamClosed] error.
	Open(ctx context.Context, key StreamKey) error
	// Append adds items, all or none. Their offsets must grow, and come after the stream's last one.
	// Otherwise it returns an [ErrOffsetUsed] error, and for a closed stream an [ErrStreamClosed] error. The
	// items' Data must not be changed afterwards.
	Append(ctx context.Context, key StreamKey, items []wire.Item) error
	// Read returns up to limit items after the offset, and does not wait. Zero: all. For an offset at or
	// after the stream's last item it returns none, and Last tells the two cases apart.
	Read(ctx context.Context, key StreamKey, after wire.Offset, limit int) (StreamPage, error)
	// Close appends the last item, refuses further ones, and removes the stream after grace. If the offset of
	// end does not come after the last item, end gets the next offset, also in its Data. Closing a closed
	// stream does nothing.
	Close(ctx context.Context, key StreamKey, end wire.Item, grace time.Duration) error
	// Delete removes all streams of a thread, at once.
	Delete(ctx context.Context, thread spool.ThreadKey) error

	// Wake tells the subscribers of topic that something has changed. A wake-up may come late, twice or not at
	// all. A listener reads the store after each wake-up, and also from time to time without one. Wake is
	// called after a transaction, never in one, and neither blocks nor fails.
	//
	// Notice is nil, except for [WakeNotice]: then it is the JSON of an [wire.Entry], of up to [MaxNoticeBytes]. A
	// longer one is dropped. It must not be changed afterwards, and is not sent again if it is lost. A backend may
	// itself call subscribers with the notice of a [WakeJobs].
	Wake(topic spool.ThreadKey, kind WakeKind, notice []byte)
	// Subscribe calls fn for each wake-up of topic until ctx ends or stop is called. fn must neither block nor
	// change the notice. Once Subscribe has returned, wake-ups that follow are delivered.
	Subscribe(ctx context.Context, topic spool.ThreadKey, fn func(kind WakeKind, notice []byte)) (stop func(), err error)
}

// StreamPage is a part of a run stream.
type StreamPage struct {
	// Items are the items after the requested offset, in order.
	Items []wire.Item
	// Ended is true if the stream has ended and there are no items after those in Items.
	Ended bool
	// Last is the offset of the stream's last item, zero for an empty stream.
	Last wire.Offset
}

// WakeKind says what has changed.
type WakeKind string

// The kinds of wake-up.
const (
	// WakeRecord: the thread's record, state, user turns or queue may have changed.
	WakeRecord WakeKind = "record"
	// WakeStream: the thread's current run stream has grown.
	WakeStream WakeKind = "stream"
	// WakeStop: the run that owns the thread was asked to stop.
	WakeStop WakeKind = "stop"
	// WakeEvent: another process than the run's worker has written an entry.
	WakeEvent WakeKind = "event"
	// WakeNotice: an application has published a live event, which is the notice.
	WakeNotice WakeKind = "notice"
	// WakeDeleted: the thread is gone.
	WakeDeleted WakeKind = "deleted"
	// WakeOwner: the thread was given to another subject.
	WakeOwner WakeKind = "owner"
	// WakeAsk: a process asks whether clients of others follow the thread. Each that has some answers with
	// [WakePresent].
	WakeAsk WakeKind = "ask"
	// WakePresent: a process has clients that follow the thread.
	WakePresent WakeKind = "present"
	// WakeJobs: a job is due. It goes to the topic that [JobTopic] returns.
	//
	// With a notice it tells of one ticket (see [NoticedTicket]), which a transaction of another process is about to
	// commit, or has committed. The transaction holds the ticket's thread, so an Update of the thread comes after it and
	// sees what has become of it: a worker can wait there while the other process waits for the disk. A wake-up without
	// a notice follows the commit.
	WakeJobs WakeKind = "jobs"
)

// JobsTopic is the topic of the wake-ups for tickets of runs. No thread can have it, because its tenant is not a valid
// one.
var JobsTopic = spool.ThreadKey{Tenant: "*", ID: "jobs"}

// EventsTopic is the topic of the wake-ups for events of the outbox. Whoever adds due events wakes it after the
// commit. Without a wake-up, workers find the events with their next poll. It is not [JobsTopic], because a start does
// not claim its own run while its worker was told that tickets may wait.
var EventsTopic = spool.ThreadKey{Tenant: "*", ID: "events"}

// JobTopic returns the topic of the wake-ups for a job.
func JobTopic(j wire.Job) spool.ThreadKey {
	if j.Event() {
		return EventsTopic
	}
	return JobsTopic
}

// MaxNoticeBytes bounds a notice. A database that limits notifications to 8,000 bytes then has room for the
// topic.
const MaxNoticeBytes = 7 << 10
