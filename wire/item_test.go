package wire_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

func TestOffsetCompare(t *testing.T) {
	t.Parallel()

	// In order: a later claim stands after everything of an earlier one.
	offsets := []wire.Offset{
		{},
		{N: 1},
		{Fence: 1},
		{Fence: 1, N: 1},
		{Fence: 1, N: 2},
		{Fence: 1, N: 10},
		{Fence: 2, N: 1},
		{Fence: 10},
		{Fence: math.MaxInt64, N: math.MaxInt64},
	}
	for i, a := range offsets {
		for j, b := range offsets {
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := a.Compare(b); got != want {
				t.Errorf("%s.Compare(%s) = %d, want %d", a, b, got, want)
			}
		}
		if got, ok := wire.ParseOffset(a.String()); !ok || got != a {
			t.Errorf("ParseOffset(%q) = %v, %v", a, got, ok)
		}
		if a.IsZero() != (i == 0) {
			t.Errorf("%s.IsZero() = %v", a, a.IsZero())
		}
	}
}

func TestOffsetText(t *testing.T) {
	t.Parallel()

	var o wire.Offset
	err := json.Unmarshal([]byte(`"7-x"`), &o)
	if spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a malformed offset gives %v", err)
	}
	if err := json.Unmarshal([]byte(`"7-12"`), &o); err != nil || o != (wire.Offset{Fence: 7, N: 12}) {
		t.Errorf("read %v, %v", o, err)
	}
}

func TestNewItem(t *testing.T) {
	t.Parallel()

	at := wire.Offset{Fence: 7, N: 12}
	for _, c := range []struct {
		kind    wire.ItemType
		payload any
		want    string
	}{
		{wire.ItemCustom, nil, `{"type":"CUSTOM","offset":"7-12"}`},
		{"OTHER", struct{}{}, `{"type":"OTHER","offset":"7-12"}`},
		{wire.ItemCustom, wire.Custom{Name: "a"}, `{"type":"CUSTOM","name":"a","value":null,"offset":"7-12"}`},
		{wire.ItemCustom, &wire.Custom{Name: "a"}, `{"type":"CUSTOM","name":"a","value":null,"offset":"7-12"}`},
	} {
		item := wire.NewItem(c.kind, at, 3, c.payload)
		if string(item.Data) != c.want {
			t.Errorf("data is %s, want %s", item.Data, c.want)
		}
		if item.Seq != 3 || item.Offset != at || item.Type != c.kind {
			t.Errorf("item is %+v", item)
		}
	}
}

// What stands under a type of this package is of the type that the document has for it.
func TestEncodedIsDocumented(t *testing.T) {
	t.Parallel()

	for name, encode := range map[string]func(){
		"item":   func() { wire.NewItem(wire.ItemCustom, wire.Offset{}, 0, wire.Delta{}) },
		"nested": func() { wire.WrapItem("a", wire.ItemToolStart, wire.ToolArgs{}) },
		"entry":  func() { wire.NewEntry(wire.EntryRunEnded, "r", wire.RunStarted{}) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a payload of another type is encoded", name)
				}
			}()
			encode()
		}()
	}
}

func TestItemTypes(t *testing.T) {
	t.Parallel()

	content, end := 0, 0
	for _, kind := range wire.ItemKinds() {
		if kind.Type.Content() {
			content++
		}
		if kind.Type.End() {
			end++
		}
		if kind.Type.Content() && kind.Type.End() {
			t.Errorf("%s is content and an end", kind.Type)
		}
	}
	if content != 13 || end != 2 {
		t.Errorf("%d kinds of content and %d ends, want 13 and 2", content, end)
	}
	if kind := wire.ItemType("SOMETHING_NEW"); kind.Content() || kind.End() {
		t.Error("an unknown kind is content or an end")
	}
}

// FuzzParseOffset checks that exactly what String writes is accepted.
func FuzzParseOffset(f *testing.F) {
	for _, text := range []string{
		"0-0", "7-12", "9223372036854775807-1", "", "-", "7", "7-", "-7", "07-1", "7-1-1", "+7-1", "7 -1",
		"9223372036854775808-1", "7--1",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		o, ok := wire.ParseOffset(text)
		if !ok {
			return
		}
		if o.String() != text {
			t.Errorf("%q is read as %q", text, o)
		}
		if o.Fence < 0 || o.N < 0 {
			t.Errorf("%q is negative", text)
		}
	})
}
