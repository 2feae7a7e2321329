package enginetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const recordsFile = "../../../spec/fixtures/records.json"

const recordsAbout = "Records: the lines of a thread's record, and the snapshot that it folds to at each version from first, without a stream. " +
	"The form of a record is in events.md."

// recorded is a record of the fixtures: the lines of its file, and the snapshot at each version from First.
type recorded struct {
	Name      string            `json:"name"`
	Lines     []json.RawMessage `json:"lines"`
	First     int64             `json:"first"`
	Snapshots []wire.Snapshot   `json:"snapshots"`
}

// fixtureCases are the cases whose threads are in the fixtures.
var fixtureCases = []string{
	"Step/ToolLoop", "Branch/BackAndForth", "Wait/Rollback", "Wait/Latest", "Nested/Park", "Lease/DeadWorker",
	"Context/Compacts", "Pending/Question", "Steer/Several", "Budget/Park",
}

// The records of the fixtures fold to the snapshots of the fixtures, which those of the cases' clients were.
func TestRecords(t *testing.T) {
	t.Parallel()
	if *update {
		writeRecords(t)
	}
	text, err := os.ReadFile(recordsFile)
	if err != nil {
		t.Fatal(err)
	}
	var fixture struct {
		Records []recorded `json:"records"`
	}
	if err := json.Unmarshal(text, &fixture); err != nil {
		t.Fatal(err)
	}
	all := fixture.Records
	if len(all) < len(fixtureCases) {
		t.Errorf("there are %d records, run this test with -update", len(all))
	}
	for _, want := range all {
		var file bytes.Buffer
		for _, l := range want.Lines {
			if err := json.Compact(&file, l); err != nil {
				t.Fatal(err)
			}
			file.WriteByte('\n')
		}
		r, err := record.Read(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Errorf("%s: %v", want.Name, err)
			continue
		}
		if first := r.First(); first != want.First || r.Last() != first+int64(len(want.Snapshots))-1 {
			t.Errorf("%s has the versions %d to %d, want %d snapshots from %d", want.Name, first, r.Last(), len(want.Snapshots),
				want.First)
			continue
		}
		for i := range want.Snapshots {
			got, err := r.At(want.First + int64(i))
			if err != nil {
				t.Errorf("%s: %v", want.Name, err)
				break
			}
			if a, b := wireJSON(t, &want.Snapshots[i]), wireJSON(t, got); !bytes.Equal(a, b) {
				t.Errorf("%s, version %d (-want +got):\n%s", want.Name, want.First+int64(i), diffJSON(a, b))
				break
			}
		}
		var again bytes.Buffer
		if n, err := r.WriteTo(&again); err != nil || n != int64(again.Len()) || !bytes.Equal(again.Bytes(), file.Bytes()) {
			t.Errorf("%s is written in another way: %d bytes, %v", want.Name, n, err)
		}
	}
}

func wireJSON(t *testing.T, s *wire.Snapshot) []byte {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeRecords(t *testing.T) {
	t.Helper()
	var all []recorded
	for _, name := range fixtureCases {
		r := recordOf(t, name)
		all = append(all, recordedOf(t, name, r))
		if name == "Branch/BackAndForth" || name == "Nested/Park" {
			all = append(all, recordedOf(t, name+", older than its deltas", olderBy(r, r.Last()/3)))
		}
	}
	var text bytes.Buffer
	text.WriteString("{\"about\": " + strconv.Quote(recordsAbout) + ", \"records\": ")
	for i, r := range all {
		fmt.Fprintf(&text, "%s{\"name\": %q, \"first\": %d, \"lines\": [", [...]string{"[\n", ",\n"}[min(i, 1)], r.Name,
			r.First)
		eachOnALine(t, &text, r.Lines)
		text.WriteString("], \"snapshots\": [")
		eachOnALine(t, &text, r.Snapshots)
		text.WriteString("]}")
	}
	text.WriteString("\n]}\n")
	if err := os.WriteFile(recordsFile, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachOnALine writes the elements of an array, each on a line of its own.
func eachOnALine[T any](t *testing.T, text *bytes.Buffer, all []T) {
	t.Helper()
	for i, v := range all {
		text.WriteString([...]string{"\n  ", ",\n  "}[min(i, 1)])
		e := json.NewEncoder(text)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		text.Truncate(text.Len() - 1)
	}
}

// recordOf runs a case, and returns the record of its thread.
func recordOf(t *testing.T, name string) (r *record.Record) {
	t.Helper()
	subjectName, caseName, _ := strings.Cut(name, "/")
	for _, subject := range subjects() {
		test := subject.tests[caseName]
		if subject.name != subjectName || test == nil {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			t.Helper()
			s := newEngineTest(t, Options{Open: memoryOf})
			test(s)
			s.check()
			s.view(func(v store.View) (err error) {
				r, err = record.Of(v)
				return err
			})
		})
	}
	if r == nil {
		t.Fatalf("there is no case %s", name)
	}
	return r
}

func memoryOf(_ *testing.T, clock store.Clock) store.Backend {
	return memory.New(&memory.Options{Clock: clock})
}

// recordedOf returns a record with its snapshots.
func recordedOf(t *testing.T, name string, r *record.Record) recorded {
	t.Helper()
	var file bytes.Buffer
	if _, err := r.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	out := recorded{Name: name, First: r.First()}
	for l := range bytes.Lines(file.Bytes()) {
		out.Lines = append(out.Lines, bytes.TrimSpace(l))
	}
	again, err := record.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range again.All() {
		out.Snapshots = append(out.Snapshots, *s)
	}
	return out
}

// olderBy returns the record as it would be if nothing had written the first n deltas.
func olderBy(r *record.Record, n int64) *record.Record {
	older := *r
	older.Deltas = nil
	for _, d := range r.Deltas[n:] {
		d.Version -= n
		older.Deltas = append(older.Deltas, d)
	}
	return &older
}
