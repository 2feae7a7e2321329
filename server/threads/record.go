package threads

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// RecordInput asks for the record of a thread.
type RecordInput struct{ call.OneThread }

// Record answers with everything from which the thread at any of its versions follows, as a file of JSON lines: the
// thread, its runs, its messages with those of branches, the entries of its record, what each commit has changed, and a
// line that ends it. The console opens such a file without a server, and so does `spool run export` write it. A file
// without its last line was cut. The whole thread is one consistent state. No line has provider data.
func (c Controller) Record(ctx context.Context, in RecordInput) (RecordAnswer, error) {
	key := in.Key(ctx)
	file, err := c.Engine.Record(call.Acting(ctx), key)
	return RecordAnswer{HistoryAnswer{file, c.Streams, record.MediaType}}, call.About(ctx, err, key, "")
}

// RecordAnswer is a record file.
type RecordAnswer struct{ HistoryAnswer }

// Document implements [rest.DocumentedResponder].
func (RecordAnswer) Document() (contentType string, body reflect.Type) {
	return record.MediaType, reflect.TypeFor[record.Line]()
}

// ForkInput is the body of a fork.
type ForkInput struct {
	ThreadID spool.ThreadID `example:"t1" json:"threadId"` // The thread.
	wire.ForkRequest
}

// Validate implements [rest.Validator].
func (in *ForkInput) Validate(context.Context) error {
	if err := spool.CheckID("threadId", string(in.ThreadID)); err != nil {
		return err
	}
	return call.CheckOptionalID("newThreadId", string(in.NewThreadID))
}

// Fork makes a new idle thread that begins with what the thread was at a version: the messages of its main agent, up to
// the last one behind which no call waits for its result. The title, the labels and the model come along, and the
// artifacts that the messages name are copied. The new thread is yours; a run on it goes on from there. The thread
// itself does not change.
//
// A 409 has the reason: there is a thread with the new id (`thread_id_used`).
func (c Controller) Fork(ctx context.Context, in ForkInput) (wire.ForkResult, error) {
	key := call.By(ctx).Key(in.ThreadID)
	result, err := c.Engine.Fork(call.Acting(ctx), key, in.ForkRequest)
	return call.Result(ctx, result, result.Accepted, err, key, "")
}

// at returns the snapshot that a request for a version or a seq asks for.
func (c Controller) at(ctx context.Context, key spool.ThreadKey, in HistoryInput) (*wire.EncodedSnapshot, error) {
	var s *wire.Snapshot
	var err error
	switch {
	case in.Version != nil && in.Seq != nil:
		return nil, spool.Errorf(spool.Invalid, "seq: a request has the version or the seq, not both")
	case in.Limit != 0:
		return nil, spool.Errorf(spool.Invalid, "limit: the snapshot of a version has all messages")
	case in.Before != "":
		return nil, spool.Errorf(spool.Invalid, "before: the snapshot of a version has all messages")
	case in.Last() != "":
		return nil, spool.Errorf(spool.Invalid, "lastMessageId: the snapshot of a version has all messages")
	case in.Version != nil:
		s, err = c.Engine.SnapshotAt(ctx, key, *in.Version)
	default:
		s, err = c.Engine.SnapshotAtSeq(ctx, key, *in.Seq)
	}
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, spool.Wrap(spool.Internal, "a snapshot cannot be encoded", err)
	}
	return &wire.EncodedSnapshot{Pieces: [][]byte{text}, Size: int64(len(text)), OnRelease: func() {}}, nil
}
