package command

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/wire"
)

// run export writes a record that package record reads: of a thread, and of the thread of a run.
func TestRunExport(t *testing.T) {
	t.Parallel()

	p := start(t, t.TempDir())
	got := talkTo(p, "chat", "--json", "--thread", "t1", "Good morning")
	var started wire.RunResult
	line, _, _ := strings.Cut(got.stdout, "\n")
	if err := json.Unmarshal([]byte(line), &started); err != nil {
		t.Fatalf("%+v: %v", got, err)
	}
	file := filepath.Join(t.TempDir(), "t1.jsonl")
	if got = talkTo(p, "run", "export", "--run", string(started.RunID), "--output", file); got.code != 0 ||
		got.stdout != "" {
		t.Fatalf("%+v", got)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r, err := record.Read(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.At(r.Last())
	if err != nil || s.Thread.ID != "t1" || s.Thread.State != wire.Completed || len(s.Messages) != 2 ||
		s.Messages[0].Text() != "Good morning" {
		t.Errorf("%+v, %v", s, err)
	}
	if got = talkTo(p, "run", "export", "--thread", "t1"); got.code != 0 || got.stdout != string(text) {
		t.Errorf("%+v", got)
	}
	for _, wrong := range [][]string{
		{"run"}, {"run", "export"}, {"run", "export", "--run", "r", "--thread", "t"}, {"run", "import", "--run", "r"},
	} {
		if got = talkTo(p, wrong...); got.code != exitUsage {
			t.Errorf("%q: %+v", wrong, got)
		}
	}
	if got = talkTo(p, "run", "export", "--thread", "t1", "--output", file); got.code != exitFailure ||
		!strings.Contains(got.stderr, "exists") {
		t.Errorf("the file exists: %+v", got)
	}
	if got = talkTo(p, "run", "export", "--thread", "nobody", "--output", file+"2"); got.code != exitFailure ||
		!strings.Contains(got.stderr, "Thread not found") {
		t.Errorf("no thread: %+v", got)
	}
}

// A record without its last line is an error.
func TestCopyRecord(t *testing.T) {
	t.Parallel()

	const whole = `{"kind":"thread"}` + "\n" + `{"kind":"end","version":1}` + "\n"
	for cut := range len(whole) + 1 {
		var to bytes.Buffer
		err := copyRecord(&to, iotest.OneByteReader(strings.NewReader(whole[:cut])))
		if complete := cut >= len(whole)-1; complete != (err == nil) || to.String() != whole[:cut] {
			t.Errorf("%q: %v, copied %q", whole[:cut], err, to.String())
		}
	}
}
