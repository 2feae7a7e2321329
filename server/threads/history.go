package threads

import (
	"context"
	"net/http"
	"reflect"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/stream"
)

// HistoryInput asks for a snapshot.
type HistoryInput struct {
	call.OneThread
	call.LastMessage

	Limit  int             `doc:"Only the newest so many messages. Left out: all." maximum:"1000"  minimum:"1"                  query:"limit"`
	Before spool.MessageID `doc:"Only messages before this one, for paging back."  maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`
}

// History answers GET /api/agent/history with a snapshot.
func (c Controller) History(ctx context.Context, in HistoryInput) (HistoryAnswer, error) {
	key := in.Key(ctx)
	snapshot, err := c.Engine.EncodedSnapshot(call.Acting(ctx), key, &engine.SnapshotOptions{
		Before:        in.Before,
		LastMessageID: in.Last(),
		Limit:         in.Limit,
	})
	return HistoryAnswer{snapshot, c.Streams}, call.About(ctx, err, key, "")
}

// HistoryAnswer is a snapshot whose bytes clients share.
type HistoryAnswer struct {
	snapshot *engine.EncodedSnapshot
	streams  *stream.Streams
}

// Document implements [rest.DocumentedResponder].
func (HistoryAnswer) Document() (contentType string, body reflect.Type) {
	return "application/json", reflect.TypeFor[spool.Snapshot]()
}

// Respond implements [rest.Responder].
func (a HistoryAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	defer a.snapshot.Release()
	w.Header().Set("Content-Type", "application/json")
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
