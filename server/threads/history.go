package threads

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/stream"
	"github.com/spoolhq/spool/wire"
)

// HistoryInput asks for a snapshot.
type HistoryInput struct {
	call.OneThread
	call.LastMessage

	// Only the newest so many messages. Left out: all.
	Limit int `maximum:"1000" minimum:"1" query:"limit"`
	// Only messages before this one, for paging back.
	Before spool.MessageID `maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`

	// Version is the snapshot at this version of the thread, without a stream. Left out: the present one.
	Version *int64 `minimum:"0" query:"version"`
	// Seq is the snapshot at the first version whose record has reached this seq. Left out: the present one.
	Seq *int64 `minimum:"0" query:"seq"`
}

// History answers with everything that a client needs to show a thread, as one consistent view: show the messages,
// apply the active events, show the stream's items after the messages, and follow from there.
func (c Controller) History(ctx context.Context, in HistoryInput) (HistoryAnswer, error) {
	key := in.Key(ctx)
	if in.Version != nil || in.Seq != nil {
		snapshot, err := c.at(call.Acting(ctx), key, in)
		return HistoryAnswer{snapshot, c.Streams, contentJSON}, call.About(ctx, err, key, "")
	}
	snapshot, err := c.Engine.EncodedSnapshot(call.Acting(ctx), key, &wire.SnapshotOptions{
		Before:        in.Before,
		LastMessageID: in.Last(),
		Limit:         in.Limit,
	})
	return HistoryAnswer{snapshot, c.Streams, contentJSON}, call.About(ctx, err, key, "")
}

// HistoryAnswer is a snapshot whose bytes clients share.
type HistoryAnswer struct {
	snapshot    *wire.EncodedSnapshot
	streams     *stream.Streams
	contentType string
}

const contentJSON = "application/json"

// Document implements [rest.DocumentedResponder].
func (HistoryAnswer) Document() (contentType string, body reflect.Type) {
	return contentJSON, reflect.TypeFor[wire.Snapshot]()
}

// Respond implements [rest.Responder].
func (a HistoryAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	defer a.snapshot.Release()
	w.Header().Set("Content-Type", a.contentType)
	w.Header().Set("Content-Length", strconv.FormatInt(a.snapshot.Size, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	for _, piece := range a.snapshot.Pieces {
		if !a.streams.Write(w, piece) {
			return nil // a disconnected client needs no answer
		}
	}
	return nil
}
