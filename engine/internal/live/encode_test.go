package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/wire"
)

// TestEncodeFrame checks that the fast encoding of an entry's frame has the same bytes as the slow one.
func TestEncodeFrame(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	payload := json.RawMessage(`{"error":"a \u003c b, \"c\" and ü"}`)
	entries := map[string]*wire.Entry{
		"Entry": {
			ThreadID: "thr_1", Seq: 12, Type: wire.EntryRunEnded, Payload: payload, CreatedAt: at, RunID: "run_1",
		},
		"NoRun": {ThreadID: "thr_1", Seq: 1, Type: wire.EntryRunRefused, Payload: payload, CreatedAt: at},
		"Notice": {
			ThreadID: "thr_1", Type: wire.NoticeStateChange, Payload: payload, CreatedAt: at.Truncate(time.Second),
			RunID: "run_1",
		},
		"Published": {
			ThreadID: "thr_1", Seq: 1, Type: "note", Payload: payload, CreatedAt: at, RunID: "run_1", Published: true,
			PublishedBy: "an\"na <ü>",
		},
		"PublishedByTool": {
			ThreadID: "thr_1", Seq: 1, Type: "note", Payload: payload, CreatedAt: at, Published: true, PublishedByTool: "export",
		},
		"NoTime":    {ThreadID: "thr_1", Seq: 1, Type: wire.EntryRunEnded, Payload: payload},
		"NoPayload": {ThreadID: "thr_1", Seq: 1, Type: wire.EntryRunEnded, CreatedAt: at},
		"IndentedPayload": {
			ThreadID: "thr_1", Seq: 1, Type: wire.EntryRunEnded, Payload: json.RawMessage("{\n  \"a\": 1\n}"), CreatedAt: at,
		},
	}
	for name, entry := range entries {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			frame := wire.Frame{Kind: wire.FrameThread, Event: entry, Cursor: &wire.Cursor{Seq: entry.Seq, Stream: "run_1:1"}}
			body, err := frame.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			want := "id: " + frame.Cursor.String() + "\ndata: " + string(body) + "\n\n"
			if diff := cmp.Diff(want, string(appendFrame(nil, frame))); diff != "" {
				t.Errorf("the frame differs (-want +got):\n%s", diff)
			}
		})
	}
}
