package wire_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func TestSnapshotCursor(t *testing.T) {
	t.Parallel()

	offset := wire.Offset{Fence: 7, N: 12}
	for want, s := range map[string]wire.Snapshot{
		"-1 - -":      {LastEventSeq: -1},
		"4 - -":       {LastEventSeq: 4},
		"4 r1:2 -":    {LastEventSeq: 4, Stream: &wire.StreamSnapshot{StreamID: "r1:2"}},
		"4 r1:2 7-12": {LastEventSeq: 4, Stream: &wire.StreamSnapshot{StreamID: "r1:2", Offset: &offset}},
	} {
		if got := s.Cursor().String(); got != want {
			t.Errorf("cursor is %q, want %q", got, want)
		}
	}
}

func TestFrameWireForm(t *testing.T) {
	t.Parallel()

	at := wire.Cursor{Seq: 4}
	item := wire.NewItem(wire.ItemCustom, wire.Offset{Fence: 7, N: 1}, 4, nil)
	for want, f := range map[string]wire.Frame{
		`{"kind":"stream","streamId":"r1:2","item":{"type":"CUSTOM","offset":"7-1"}}`: {
			Kind: wire.FrameStream, StreamID: "r1:2", Item: &item, Cursor: &at,
		},
		`{"kind":"thread","event":{"threadId":"t1","seq":0,"type":"STATE_CHANGE","payload":{"state":"IDLE"},"createdAt":"0001-01-01T00:00:00Z"}}`: {
			Kind:  wire.FrameThread,
			Event: &wire.Entry{ThreadID: "t1", Type: wire.NoticeStateChange, Payload: json.RawMessage(`{"state":"IDLE"}`)},
		},
	} {
		b, err := json.Marshal(f)
		if err != nil || string(b) != want {
			t.Errorf("written as %s, %v, want %s", b, err, want)
		}
	}
}

// FuzzFrame checks that no data of an event stream breaks the decoding of frames, and
// that a whole frame survives being written and read again.
func FuzzFrame(f *testing.F) {
	var file struct {
		About  string `json:"about"`
		Frames []struct {
			valueCase

			ID *string `json:"id"`
		} `json:"frames"`
	}
	fixture(f, "frames", &file)
	for _, c := range file.Frames {
		f.Add([]byte(c.Value))
	}
	for _, text := range []string{
		``, `null`, `{}`, `[]`, `{"kind":7}`, `{"kind":"stream"}`, `{"kind":"stream","item":null}`,
		`{"kind":"stream","streamId":"r1:1","item":{}}`,
		`{"kind":"stream","streamId":"r1:1","item":{"type":"CUSTOM","offset":7}}`, `{"kind":"thread","event":{"seq":-1}}`,
		`{"kind":"snapshot","snapshot":{"stream":{"offset":"7"}}}`, `{"kind":"new","new":1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var frame wire.Frame
		if err := json.Unmarshal(data, &frame); err != nil {
			return
		}
		switch frame.Kind {
		case wire.FrameThread:
			if frame.Event == nil {
				return
			}
		case wire.FrameStream:
			if frame.Item == nil || spool.CheckID("streamId", string(frame.StreamID)) != nil {
				return // not a whole frame
			}
		case wire.FrameSnapshot:
			if frame.Snapshot == nil {
				return
			}
		default:
			return // a kind to come, which readers ignore
		}
		first, err := json.Marshal(frame)
		if err != nil {
			return // such as a time that JSON has no form for
		}
		var again wire.Frame
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s is written as %s, which is not read: %v", data, first, err)
		}
		second, err := json.Marshal(again)
		if err != nil || string(first) != string(second) {
			t.Errorf("written as %s, then as %s, %v", first, second, err)
		}
	})
}
