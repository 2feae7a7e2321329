package view_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/client/view"
	"github.com/spoolhq/spool/wire"
)

var update = flag.Bool("update", false, "write spec/fixtures/views.json again")

const viewsAbout = "Views: what a client shows after it has applied the frames, in order, to the snapshot. Without a snapshot it begins with an " +
	"empty view. The id of a frame is that of its SSE message. The form of a view is in events.md."

// viewsFile is where clients in every language find the cases.
var viewsFile = filepath.Join("..", "..", "spec", "fixtures", "views.json")

// framed is a frame with the id of its SSE message, nil for a notice.
type framed struct {
	ID    *string         `json:"id"`
	Frame json.RawMessage `json:"frame"`
}

// viewCase is what a client has applied, and shows then.
type viewCase struct {
	Name     string          `json:"name"`
	Snapshot json.RawMessage `json:"snapshot"`
	Frames   []framed        `json:"frames"`
	View     json.RawMessage `json:"view"`
}

// shown returns the view after the frames, in its JSON form.
func (c viewCase) shown(t *testing.T) json.RawMessage {
	t.Helper()

	text, err := json.Marshal(c.applied(t))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// applied returns the view after the frames.
func (c viewCase) applied(t *testing.T) *view.Thread {
	t.Helper()

	var snapshot *wire.Snapshot
	if err := json.Unmarshal(c.Snapshot, &snapshot); err != nil {
		t.Fatal(err)
	}
	v := view.New(snapshot)
	for i, f := range c.Frames {
		var frame wire.Frame
		if err := json.Unmarshal(f.Frame, &frame); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
		if f.ID != nil {
			at, ok := wire.ParseCursor(*f.ID)
			if !ok {
				t.Fatalf("frame %d: id %q", i, *f.ID)
			}
			frame.Cursor = &at
		}
		if err := v.Apply(frame); err != nil {
			t.Fatalf("frame %d: %v", i, err)
		}
	}
	return v
}

// TestFixtures applies the cases that clients in every language share. With -update it writes them.
func TestFixtures(t *testing.T) {
	t.Parallel()

	cases := append(cutTranscript(t), shownSnapshots(t)...)
	cases = append(cases, viewCases(t)...)
	for i := range cases {
		cases[i].View = cases[i].shown(t)
	}
	text := viewsText(t, cases)
	if *update {
		if err := os.WriteFile(viewsFile, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	saved, err := os.ReadFile(viewsFile)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Views []viewCase
	}
	if err := json.Unmarshal(saved, &file); err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, c := range file.Views {
		if names[c.Name] {
			t.Errorf("two cases have the name %q", c.Name)
		}
		names[c.Name] = true
		if diff := cmp.Diff(parsed(t, c.View), parsed(t, c.shown(t))); diff != "" {
			t.Errorf("%s (-fixture +shown):\n%s", c.Name, diff)
		}
	}
	if !bytes.Equal(saved, text) {
		t.Error("views.json is not what the cases say; write it with: go test ./client/view -run Fixtures -update")
	}
}

func parsed(t *testing.T, text []byte) (v any) {
	t.Helper()

	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// viewsText returns the file with one line for each frame and for each field of a view.
func viewsText(t *testing.T, cases []viewCase) []byte {
	t.Helper()

	var b bytes.Buffer
	fmt.Fprintf(&b, "{\n  \"about\": %s,\n  \"views\": [", lineOf(t, viewsAbout))
	for i, c := range cases {
		fmt.Fprintf(&b, "%s\n    {\"name\": %s, \"snapshot\": %s, \"frames\": [", comma(i), lineOf(t, c.Name),
			lineOf(t, c.Snapshot))
		for j, f := range c.Frames {
			fmt.Fprintf(&b, "%s\n      {\"id\": %s, \"frame\": %s}", comma(j), lineOf(t, f.ID), lineOf(t, f.Frame))
		}
		b.WriteString("\n    ], \"view\": {")
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(c.View, &fields); err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, key := range []string{
			"thread", "messages", "drafts", "parks", "pending", "runs", "queue", "retry", "providerWaits", "cursor", "deleted",
		} {
			if value, ok := fields[key]; ok {
				fmt.Fprintf(&b, "%s\n      %q: %s", comma(n), key, lineOf(t, value))
				n++
			}
		}
		if n != len(fields) {
			t.Fatalf("a field of the view is not in the list: %s", c.View)
		}
		b.WriteString("\n    }}")
	}
	b.WriteString("\n  ]\n}\n")
	return b.Bytes()
}

func comma(i int) string {
	if i == 0 {
		return ""
	}
	return ","
}

// lineOf returns the JSON of a value in one line. Text is written as it is, also "<".
func lineOf(t *testing.T, v any) string {
	t.Helper()

	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if raw, ok := v.(json.RawMessage); ok {
		var c bytes.Buffer
		if err := json.Compact(&c, raw); err != nil {
			t.Fatal(err)
		}
		return c.String()
	}
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return string(bytes.TrimSpace(b.Bytes()))
}

// cutTranscript returns the whole transcript, and what is shown in the middle of it.
func cutTranscript(t *testing.T) []viewCase {
	t.Helper()

	var file struct {
		Frames []framed
	}
	fixture(t, "transcript", &file)
	var cases []viewCase
	for _, c := range []struct{ name, through string }{
		{"in the middle of a text", "1 r1:1 1-3"},
		{"a call without its arguments", "1 r1:1 1-6"},
		{"a call waits for approval", "3 r1:1 1-10"},
		{"the result of an approved call, and half an answer", "5 r1:2 2-4"},
		{"a turn was edited", "8 r2:1 3-4"},
		{"a whole transcript", ""},
	} {
		n := len(file.Frames)
		for i, f := range file.Frames {
			if c.through != "" && f.ID != nil && *f.ID == c.through {
				n = i + 1
			}
		}
		cases = append(cases, viewCase{Name: c.name, Snapshot: json.RawMessage("null"), Frames: file.Frames[:n]})
	}
	return cases
}

// shownSnapshots returns each snapshot of a thread alone.
func shownSnapshots(t *testing.T) []viewCase {
	t.Helper()

	var file struct {
		Snapshots []struct {
			Name  string
			Value json.RawMessage
		}
	}
	fixture(t, "snapshots", &file)
	var cases []viewCase
	for _, c := range file.Snapshots {
		var s wire.Snapshot
		if err := json.Unmarshal(c.Value, &s); err != nil {
			t.Fatal(err)
		}
		if s.AfterMessageID == nil {
			cases = append(cases, viewCase{Name: "a snapshot: " + c.Name, Snapshot: c.Value})
		}
	}
	return cases
}
