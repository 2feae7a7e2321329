package store

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"strconv"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// TestMarshalStored compares the text of deltas with that of package encoding/json, but for what it leaves out: with
// each field alone, so that a new field is not forgotten, and with all of them.
func TestMarshalStored(t *testing.T) {
	t.Parallel()

	n := 0
	var all SnapshotDelta
	fill(reflect.ValueOf(&all).Elem(), nil, &n)
	sameStored(t, &all)
	for i := range n {
		var one SnapshotDelta
		at := 0
		fill(reflect.ValueOf(&one).Elem(), &i, &at)
		sameStored(t, &one)
	}
	if n < 40 {
		t.Errorf("only %d fields were filled", n)
	}
	for _, text := range []string{"", "<é>", "\"\\\b\f\n\r\t\x00\x1f\x7f", "\u2028\u2029", "a\xffb", "&<>'/~ "} {
		at := time.Date(2026, 11, 28, 1, 2, 3, len(text)*1000, time.FixedZone("", 3600*(len(text)%2)))
		sameStored(t, &SnapshotDelta{
			Thread: &DeltaThread{Title: text, Labels: map[string]string{text: text}}, RunID: spool.RunID(text),
			Runs: []DeltaRun{
				{RunJSON: wire.RunJSON{Error: text, StartedAt: at}},
				{RunJSON: wire.RunJSON{ID: spool.RunID(text), EndedAt: at}},
			},
			View:  []ViewChange{{Add: []spool.MessageID{spool.MessageID(text), "b"}}, {}},
			Parks: []DeltaPark{{ToolCallID: spool.ToolCallID(text)}, {}},
		})
	}
	far := SnapshotDelta{
		Runs: []DeltaRun{{RunJSON: wire.RunJSON{StartedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}},
	}
	if _, err := far.MarshalStored(); err == nil {
		t.Error("a year that JSON cannot have has no error")
	}
}

// leftOut is what the stored form of a run does not have.
var leftOut = regexp.MustCompile(`,"(threadId":"[^"]*|(agent|model|state)":"|startedAt":"0001-01-01T00:00:00Z)"` +
	`|,"(depth|steps|attempts|inputTokens|cachedInputTokens|outputTokens|totalTokens)":0\b`)

func sameStored(t *testing.T, d *SnapshotDelta) {
	t.Helper()
	parts := []any{}
	for _, r := range d.Runs {
		text, err := marshalUnescaped(r)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, json.RawMessage(leftOut.ReplaceAll(text, nil)))
	}
	want, err := marshalUnescaped(struct {
		Thread *DeltaThread `json:"thread,omitempty"`
		RunID  spool.RunID  `json:"runId,omitempty"`
		Runs   []any        `json:"runs,omitempty"`
		View   []ViewChange `json:"view,omitempty"`
		Parks  []DeltaPark  `json:"parks,omitempty"`
	}{d.Thread, d.RunID, parts, d.View, d.Parks})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.MarshalStored()
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}

	// What is left out comes back.
	whole, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var again, back SnapshotDelta
	if err := errors.Join(json.Unmarshal(whole, &again), back.UnmarshalStored(got, "t")); err != nil {
		t.Fatal(err)
	}
	again.Version, again.Seq, again.At = 0, 0, time.Time{}
	for i := range again.Runs {
		again.Runs[i].ThreadID = "t"
	}
	if !reflect.DeepEqual(back, again) {
		t.Errorf("read again it is\n%+v\nand not\n%+v", back, again)
	}
}

// fill sets the fields of a value. It counts them in n, and sets only the one with the number of only, if that is not
// nil. The elements of lists are there in any case.
func fill(v reflect.Value, only, n *int) {
	switch v.Kind() {
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[time.Time](v); ok {
			if set(only, n) {
				v.Set(reflect.ValueOf(time.UnixMicro(1_764_000_000_123_456).UTC()))
			}
			return
		}
		for _, field := range v.Fields() {
			fill(field, only, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), only, n)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[spool.Content]() {
			v.Set(reflect.ValueOf(spool.TextContent("text")))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), only, n)
		}
	case reflect.String:
		if set(only, n) {
			v.SetString("text " + strconv.Itoa(*n))
		}
	case reflect.Map:
		if set(only, n) {
			v.Set(reflect.ValueOf(map[string]string{"b": "1", "a": "2"}))
		}
	default:
		if set(only, n) {
			v.SetInt(int64(*n))
		}
	}
}

// set counts a field, and reports whether it is to be set.
func set(only, n *int) bool {
	*n++
	return only == nil || *only == *n-1
}
