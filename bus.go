package spool

import "context"

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
	// WakeDeleted: the thread is gone.
	WakeDeleted WakeKind = "deleted"
	// WakeOwner: the thread was given to another subject.
	WakeOwner WakeKind = "owner"
	// WakeJobs: a job is due. It goes to the topic [JobsTopic].
	WakeJobs WakeKind = "jobs"
)

// JobsTopic is the topic of the queue's wake-ups. No thread can have it, because its tenant is not a valid
// one.
var JobsTopic = ThreadKey{Tenant: "*", ID: "jobs"}

// MaxNoticeBytes bounds a notice on a [Bus]. A database that limits notifications to 8,000 bytes then has
// room for the topic.
const MaxNoticeBytes = 7 << 10

// Bus wakes the processes that wait for a change, and delivers the live events of an application to the
// clients that follow a thread. It is lossy: a wake-up may come late, twice or not at all, and has no
// content. A listener reads the store after each wake-up, and also from time to time without one. A notice
// may get lost in the same way, and is not sent again.
//
// A bus is safe for concurrent use. Wake and Notify are called after a transaction, never in one, and neither
// blocks nor fails.
type Bus interface {
	// Wake wakes the subscribers of topic.
	Wake(topic ThreadKey, kind WakeKind)
	// Subscribe calls fn for each wake-up of topic until ctx ends or stop is called. fn
	// must not block. Once Subscribe has returned, wake-ups that follow are delivered.
	Subscribe(ctx context.Context, topic ThreadKey, fn func(kind WakeKind)) (stop func(), err error)
	// Notify gives a notice to the listeners of topic: the JSON of an [Entry], of up to
	// [MaxNoticeBytes]. A longer one is dropped. The notice must not be changed afterwards.
	Notify(topic ThreadKey, notice []byte)
	// Listen calls fn for each notice of topic until ctx ends or stop is called. fn must
	// neither block nor change the notice. Once Listen has returned, notices that follow are
	// delivered.
	Listen(ctx context.Context, topic ThreadKey, fn func(notice []byte)) (stop func(), err error)
}
