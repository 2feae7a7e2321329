package server_test

import (
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/model/demo"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// signature is in the data of all answers of a signing model.
const signature = "c2lnbmF0dXJl"

// signing is a model that adds provider data to all that it can.
type signing struct{ spool.Model }

func (m signing) Stream(ctx context.Context, r spool.ModelRequest) iter.Seq2[spool.ModelEvent, error] {
	data := json.RawMessage(`{"signing":{"model":"demo","data":"` + signature + `"}}`)
	return func(yield func(spool.ModelEvent, error) bool) {
		if !yield(spool.ResumePoint{Data: data}, nil) || !yield(spool.ReasoningEnd{Provider: data}, nil) {
			return
		}
		for event, err := range m.Model.Stream(ctx, r) {
			switch e := event.(type) {
			case spool.ReasoningEnd:
				e.Provider, event = data, nil
				if !yield(e, err) {
					return
				}
			case spool.ToolCallStart:
				if !yield(spool.TextEnd{Provider: data}, nil) {
					return
				}
			case spool.ToolCallEnd:
				e.Provider = data
				event = e
			case spool.Finish:
				if !yield(spool.TextEnd{Provider: data}, nil) || !yield(spool.ProviderPart{Provider: data}, nil) {
					return
				}
			}
			if event != nil && !yield(event, err) {
				return
			}
			if err != nil {
				return
			}
		}
	}
}

// No operation, no frame of any format and no log has what only the model's provider understands.
func TestProviderDataStaysInside(t *testing.T) {
	t.Parallel()

	w := newWalkedOn(t, setupOver(t, server.Config{StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}},
		engine.Config{
			Models: map[string]spool.Model{"demo": signing{demo.New(demo.Config{SlowDelay: 10 * time.Millisecond})}},
		}))
	stored := 0
	err := w.backend.Store.View(t.Context(), spool.ThreadKey{Tenant: "a", ID: "kept"}, func(v store.View) error {
		messages, err := v.Messages(store.MessageQuery{})
		for _, m := range messages {
			for _, part := range m.Content {
				stored += strings.Count(string(part.Provider), signature)
			}
		}
		return err
	})
	if err != nil || stored < 4 {
		t.Fatalf("%d parts are signed, %v", stored, err)
	}
	var out strings.Builder
	for _, o := range w.operations(t) {
		if o.id == "deleteThread" || o.id == "pruneThreads" {
			continue
		}
		for _, c := range walk[o.id] {
			out.WriteString(w.ask(t, tokenA, o, c, w.names).body)
		}
	}
	for _, format := range []string{"", "&wireFormat=ag-ui"} {
		for _, m := range w.stream(
			t, call{path: streamPath + "?cursor=0+-+-&threadId=dead" + format, token: tokenA},
		).until(t, func(m message) bool {
			return strings.Contains(m.raw, "RUN_FINISHED") || strings.Contains(m.raw, string(wire.EntryRunEnded))
		}) {
			out.WriteString(m.raw)
		}
	}
	out.WriteString(w.as(t, tokenA, http.MethodGet, historyPath+"?threadId=dead", "").body)
	out.WriteString(w.as(t, tokenA, http.MethodGet, "/openapi.json", "").body)
	out.WriteString(w.logged.String())
	if text := out.String(); len(text) < 20_000 || strings.Contains(text, signature) ||
		strings.Contains(text, `"signing"`) {
		at := max(strings.Index(text, signature), 200)
		t.Errorf("%d bytes go out, and they show a signature: %s", len(text), text[at-200:at])
	}
}
