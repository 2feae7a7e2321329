package wire_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// The fixtures are what the wire looks like, for clients in every language. The tests
// read them into the types of this package and write them again.

// fixture reads spec/fixtures/<name>.json into v, which must know all of its fields.
func fixture(tb testing.TB, name string, v any) {
	tb.Helper()

	b, err := os.ReadFile(filepath.Join("..", "spec", "fixtures", name+".json"))
	if err != nil {
		tb.Fatal(err)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		tb.Fatalf("read %s.json: %v", name, err)
	}
}

// roundTrip reads a value into a T and compares what it writes.
func roundTrip[T any](t *testing.T, value json.RawMessage) T {
	t.Helper()

	var v T
	if err := json.Unmarshal(value, &v); err != nil {
		t.Fatalf("read: %v", err)
	}
	sameJSON(t, value, v)
	return v
}

// sameJSON compares JSON text with what v writes, whatever the order of the fields.
func sameJSON(t *testing.T, want json.RawMessage, v any) {
	t.Helper()

	b, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("write: %v", err)
	}
	if diff := cmp.Diff(parse(t, want), parse(t, b)); diff != "" {
		t.Errorf("written differs (-fixture +written):\n%s", diff)
	}
}

func parse(t *testing.T, b []byte) any {
	t.Helper()

	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("parse %s: %v", b, err)
	}
	return v
}

type valueCase struct {
	Name  string          `json:"name"`
	Value json.RawMessage `json:"value"`
}

// kinds returns the types of the values.
func kinds[T ~string](t *testing.T, cases []valueCase) map[T]bool {
	t.Helper()

	seen := make(map[T]bool)
	for _, c := range cases {
		var head struct {
			Type T `json:"type"`
		}
		if err := json.Unmarshal(c.Value, &head); err != nil {
			t.Fatal(err)
		}
		seen[head.Type] = true
	}
	return seen
}

func types[T ~string](kinds []wire.Kind[T]) map[T]reflect.Type {
	all := make(map[T]reflect.Type)
	for _, k := range kinds {
		all[k.Type] = k.Of
	}
	return all
}

func TestFixturesEntries(t *testing.T) {
	t.Parallel()

	var file struct {
		About   string      `json:"about"`
		Entries []valueCase `json:"entries"`
		Notices []valueCase `json:"notices"`
	}
	fixture(t, "entries", &file)
	seen := kinds[wire.EntryType](t, append(file.Entries, file.Notices...))
	for i, c := range append(file.Entries, file.Notices...) {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			e := roundTrip[wire.Entry](t, c.Value)
			if notice := i >= len(file.Entries); notice != (e.Seq == 0) {
				t.Errorf("seq is %d", e.Seq)
			}
			if payload, known := types(wire.EntryKinds())[e.Type]; known {
				p := reflect.New(payload).Interface()
				if err := json.Unmarshal(e.Payload, p); err != nil {
					t.Fatalf("read the payload: %v", err)
				}
				sameJSON(t, e.Payload, p)
				sameJSON(t, e.Payload, wire.NewEntry(e.Type, e.RunID, p).Payload)
			}
		})
	}
	for _, kind := range wire.EntryKinds() {
		if !seen[kind.Type] {
			t.Errorf("entries.json has no %s", kind.Type)
		}
	}
}

func TestFixturesItems(t *testing.T) {
	t.Parallel()

	var file struct {
		About string      `json:"about"`
		Items []valueCase `json:"items"`
	}
	fixture(t, "items", &file)
	seen := kinds[wire.ItemType](t, file.Items)
	for _, c := range file.Items {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			item := roundTrip[wire.Item](t, c.Value)
			want := `{"type":"` + string(item.Type) + `",`
			if !bytes.HasPrefix(compact(t, c.Value), []byte(want)) ||
				!bytes.HasSuffix(compact(t, c.Value), []byte(`,"offset":"`+item.Offset.String()+`"}`)) {
				t.Errorf("the type is not first, or the offset not last: %s", c.Value)
			}
			fields, known := types(wire.ItemKinds())[item.Type]
			if !known {
				return
			}
			p := reflect.New(fields).Interface()
			if err := item.Decode(p); err != nil {
				t.Fatal(err)
			}
			built := wire.NewItem(item.Type, item.Offset, 0, p)
			sameJSON(t, c.Value, built)
			if !bytes.HasPrefix(built.Data, []byte(want)) ||
				!bytes.HasSuffix(built.Data, []byte(`,"offset":"`+item.Offset.String()+`"}`)) {
				t.Errorf("the built item has its fields in another order: %s", built.Data)
			}
		})
	}
	for _, kind := range wire.ItemKinds() {
		if !seen[kind.Type] {
			t.Errorf("items.json has no %s", kind.Type)
		}
	}
}

func compact(t *testing.T, b []byte) []byte {
	t.Helper()

	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		t.Fatal(err)
	}
	// A blank after a comma or colon is gone now, whatever the fixture's style.
	return out.Bytes()
}

func TestFixturesMessages(t *testing.T) {
	t.Parallel()

	var file struct {
		About    string `json:"about"`
		Messages []struct {
			valueCase

			Text string `json:"text"`
		} `json:"messages"`
	}
	fixture(t, "messages", &file)
	for _, c := range file.Messages {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			m := roundTrip[spool.Message](t, c.Value)
			if m.Text() != c.Text {
				t.Errorf("text is %q, want %q", m.Text(), c.Text)
			}
		})
	}
}

func TestFixturesSnapshots(t *testing.T) {
	t.Parallel()

	var file struct {
		About     string `json:"about"`
		Snapshots []struct {
			valueCase

			Cursor string `json:"cursor"`
		} `json:"snapshots"`
	}
	fixture(t, "snapshots", &file)
	for _, c := range file.Snapshots {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			s := roundTrip[wire.Snapshot](t, c.Value)
			if got := s.Cursor().String(); got != c.Cursor {
				t.Errorf("cursor is %q, want %q", got, c.Cursor)
			}
		})
	}
}

func TestFixturesFrames(t *testing.T) {
	t.Parallel()

	var file struct {
		About  string `json:"about"`
		Frames []struct {
			valueCase

			ID *string `json:"id"`
		} `json:"frames"`
	}
	fixture(t, "frames", &file)
	for _, c := range file.Frames {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()

			f := roundTrip[wire.Frame](t, c.Value)
			if f.Cursor != nil {
				t.Error("the cursor came from the JSON")
			}
			notice := f.Kind == wire.FrameThread && f.Event.Seq == 0
			if notice != (c.ID == nil) {
				t.Fatalf("id is %v", c.ID)
			}
			if notice {
				return
			}
			at, ok := wire.ParseCursor(*c.ID)
			if !ok || at.String() != *c.ID {
				t.Fatalf("the id %q is not a cursor as we write it", *c.ID)
			}
			if moved, _ := move(at, f); moved != at {
				t.Errorf("the id %q does not stand at its frame, which moves it to %q", *c.ID, moved)
			}
		})
	}
}

// move is the rule by which a frame moves a cursor, as spec/events.md has it.
func move(at wire.Cursor, f wire.Frame) (next wire.Cursor, moves bool) {
	switch {
	case f.Kind == wire.FrameSnapshot:
		return f.Snapshot.Cursor(), true
	case f.Kind == wire.FrameStream:
		return wire.Cursor{Seq: at.Seq, Stream: f.StreamID, Offset: f.Item.Offset}, true
	case f.Event.Seq == 0:
		return at, false
	}
	at.Seq = f.Event.Seq
	var started wire.RunStarted
	if f.Event.Type == wire.EntryRunStarted && json.Unmarshal(f.Event.Payload, &started) == nil {
		at.Stream, at.Offset = started.StreamID, wire.Offset{}
	}
	return at, true
}

// TestFixturesTranscript checks the order that spec/events.md promises.
func TestFixturesTranscript(t *testing.T) {
	t.Parallel()

	var file struct {
		About  string `json:"about"`
		Frames []struct {
			ID    *string         `json:"id"`
			Frame json.RawMessage `json:"frame"`
		} `json:"frames"`
	}
	fixture(t, "transcript", &file)
	at := wire.Cursor{Seq: -1}
	ended := true
	var turn spool.RunID // of a user turn whose run has not started
	for i, c := range file.Frames {
		f := roundTrip[wire.Frame](t, c.Frame)
		next, moves := move(at, f)
		if moves != (c.ID != nil) || moves && *c.ID != next.String() {
			t.Fatalf("frame %d: the id is wrong: want %q", i, next)
		}
		switch {
		case !moves && f.Event.Type == wire.NoticeMessageAppended:
			if !ended {
				t.Errorf("frame %d: a turn of the user while the stream is open", i)
			}
			turn = f.Event.RunID
		case !moves:
		case f.Kind == wire.FrameStream:
			if f.StreamID != at.Stream || f.Item.Offset.Compare(at.Offset) <= 0 || ended {
				t.Errorf("frame %d: item %s of %s comes after %q", i, f.Item.Offset, f.StreamID, at)
			}
			ended = f.Item.Type.End()
		default:
			if f.Event.Seq != max(at.Seq, 0)+1 {
				t.Errorf("frame %d: entry %d comes after %d", i, f.Event.Seq, at.Seq)
			}
			if between := f.Event.Type == wire.EntryRunStarted || f.Event.Type == wire.EntryRunEnded; between && !ended {
				t.Errorf("frame %d: %s while the stream is open", i, f.Event.Type)
			}
			if turn != "" && (f.Event.Type != wire.EntryRunStarted || f.Event.RunID != turn) {
				t.Errorf("frame %d: %s of %s stands between a turn and its run", i, f.Event.Type, f.Event.RunID)
			}
			turn = ""
			if f.Event.Type == wire.EntryRunStarted {
				ended = false
			}
		}
		at = next
	}
	if !ended {
		t.Error("the last stream has no end")
	}
}

// TestFixturesAbout keeps the files readable by somebody who has nothing else.
func TestFixturesAbout(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob(filepath.Join("..", "spec", "fixtures", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var head struct {
			About string `json:"about"`
		}
		if err := json.Unmarshal(b, &head); err != nil || !strings.HasSuffix(head.About, ".") {
			t.Errorf("%s does not say what it is about: %v", file, err)
		}
	}
}
