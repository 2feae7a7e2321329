package spool

import (
	"reflect"
	"strconv"
	"testing"
	"time"
)

// TestMarshalStored compares the text of deltas with that of package encoding/json: with each field alone, so that a
// new field is not forgotten, and with all of them.
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
			Thread: &DeltaThread{Title: text, Labels: map[string]string{text: text}}, RunID: RunID(text),
			Runs: []DeltaRun{{WireRun: WireRun{Error: text, StartedAt: at}}, {WireRun: WireRun{ID: RunID(text), EndedAt: at}}},
			View: []ViewChange{{Add: []MessageID{MessageID(text), "b"}}, {}}, Parks: []DeltaPark{{ToolCallID: ToolCallID(text)}, {}},
		})
	}
	far := SnapshotDelta{Runs: []DeltaRun{{WireRun: WireRun{StartedAt: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)}}}}
	if _, err := far.MarshalStored(); err == nil {
		t.Error("a year that JSON cannot have has no error")
	}
}

func sameStored(t *testing.T, d *SnapshotDelta) {
	t.Helper()
	want, err := marshalUnescaped(storedDelta{d.Thread, d.RunID, d.Runs, d.View, d.Parks})
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.MarshalStored()
	if err != nil || string(got) != string(want) {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
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
		if v.Type() == reflect.TypeFor[Content]() {
			v.Set(reflect.ValueOf(TextContent("text")))
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
