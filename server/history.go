package server

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

// historyInput asks for a snapshot.
type historyInput struct {
	call.OneThread
	call.LastMessage

	Limit  int             `doc:"Only the newest so many messages. Left out: all." maximum:"1000"  minimum:"1"                  query:"limit"`
	Before spool.MessageID `doc:"Only messages before this one, for paging back."  maxLength:"128" pattern:"^[A-Za-z0-9._:-]+$" query:"before"`
}

// history answers GET /api/agent/history with a snapshot.
func (c follow) history(ctx context.Context, in historyInput) (historyAnswer, error) {
	key := in.Key(ctx)
	snapshot, err := c.engine.EncodedSnapshot(call.Acting(ctx), key, &engine.SnapshotOptions{
		Before:        in.Before,
		LastMessageID: in.Last(),
		Limit:         in.Limit,
	})
	return historyAnswer{snapshot, c.streams}, call.About(ctx, err, key, "")
}

// historyAnswer is a snapshot whose bytes other clients get too.
type historyAnswer struct {
	snapshot *engine.EncodedSnapshot
	streams  *stream.Streams
}

// Document implements [rest.DocumentedResponder].
func (historyAnswer) Document() (contentType string, body reflect.Type) {
	return "application/json", reflect.TypeFor[spool.Snapshot]()
}

// Respond implements [rest.Responder].
func (a historyAnswer) Respond(w http.ResponseWriter, r *http.Request) error {
	defer a.snapshot.Release()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.FormatInt(a.snapshot.Size, 10))
	w.WriteHeader(http.StatusOK)
	if r.Method == http.MethodHead {
		return nil
	}
	for _, piece := range a.snapshot.Pieces {
		if !a.streams.Write(w, piece) {
			return nil // a client that is gone needs no answer
		}
	}
	return nil
}
