package wire

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/spoolhq/spool"
)

// texts are what a piece of an answer may be.
var texts = []string{
	"", " and so it goes", "a\n\"b\"\t\\ \r\b\f", "<p>&amp;</p>", "é 😀 \u65e5", "\u2028\u2029", "a\xffb\xc3",
	"\x00\x1f\x7f", "\\u0041", "\ufffd",
}

// FuzzItemText looks for an item of text that is written or read in another way than by
// encoding/json.
func FuzzItemText(f *testing.F) {
	for _, text := range texts {
		f.Add("r1:1:m1", text)
		f.Add(text, "x")
	}
	f.Fuzz(checkItemText)
}

func TestItemText(t *testing.T) {
	t.Parallel()

	for _, text := range texts {
		checkItemText(t, "r1:1:m1", text)
		checkItemText(t, text, text)
	}
}

func checkItemText(t *testing.T, id, text string) {
	t.Helper()
	delta, block, args := Delta{id, text}, Block{id, spool.Role(text)}, ToolArgs{spool.ToolCallID(id), text}
	for _, c := range []struct {
		kind    ItemType
		payload interface{ AppendJSON(b []byte) []byte }
		into    []func() any
	}{
		{
			ItemTextContent, delta,
			[]func() any{
				func() any { return new(Delta) },
				func() any { return new(Block) },
				func() any { return &Delta{"set", "set"} },
			},
		},
		{
			ItemTextStart, block,
			[]func() any{
				func() any { return new(Delta) },
				func() any { return new(Block) },
				func() any { return &Block{"set", "set"} },
			},
		},
		{ItemToolArgs, args, []func() any{func() any { return new(ToolArgs) }, func() any { return new(Delta) }}},
	} {
		want := string(mustJSON(c.payload))
		if got := string(c.payload.AppendJSON(nil)); got != want {
			t.Fatalf("%#v is written as %s, want %s", c.payload, got, want)
		}
		item := NewItem(c.kind, Offset{3, 14}, 2, c.payload)
		if got, want := string(item.Data), `{"type":"`+string(c.kind)+`",`+want[1:len(want)-1]+
			`,"offset":"3-14"}`; got != want {
			t.Fatalf("the item is %s, want %s", got, want)
		}
		if extra := cap(item.Data) - len(item.Data); id == "r1:1:m1" && text == texts[1] && extra > 0 {
			t.Errorf("an item that is kept has room for %d bytes more", extra)
		}
		nested := WrapItem(spool.AgentID(id), c.kind, c.payload)
		body := string(mustJSON(nested))
		inner := NewItem(ItemSubagentEvent, Offset{3, 14}, 2, nested)
		if got, want := string(inner.Data), `{"type":"SUBAGENT_EVENT",`+body[1:len(body)-1]+`,"offset":"3-14"}`; got != want {
			t.Fatalf("the item of a nested run is %s, want %s", got, want)
		}
		for _, fresh := range c.into {
			got, want := fresh(), fresh()
			if err := json.Unmarshal(item.Data, want); err != nil {
				t.Fatal(err)
			}
			if err := item.Decode(got); err != nil || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s is read as %#v (%v), want %#v", item.Data, got, err, want)
			}
		}
	}
}

// TestItemTextAsIs reads items that NewItem has not written.
func TestItemTextAsIs(t *testing.T) {
	t.Parallel()

	for _, data := range []string{
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","delta":"b","offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","delta":"a","messageId":"m","offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":null,"offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","more":1,"offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a","offset":"1-2"}`,
		`{"type":"OTHER","messageId":"m","delta":"a","offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a` + "\n" + `","offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a\q","offset":"1-1"}`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m","delta":"a`,
		`{"type":"TEXT_MESSAGE_CONTENT","messageId":"m`,
		`{"type":"TEXT_MESSAGE_CONTENT"`,
		``,
	} {
		item := Item{Offset: Offset{1, 1}, Type: ItemTextContent, Data: json.RawMessage(data)}
		var got, want Delta
		gotErr, wantErr := item.Decode(&got), json.Unmarshal(item.Data, &want)
		if got != want || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%s is read as %#v (%v), want %#v (%v)", data, got, gotErr, want, wantErr)
		}
	}
}

func BenchmarkItemText(b *testing.B) {
	b.ReportAllocs()
	delta := Delta{"r1:1:m1", " and so it goes on and on, for a while,"}
	var into Delta
	for b.Loop() {
		if err := NewItem(ItemTextContent, Offset{3, 14}, 2, delta).Decode(&into); err != nil {
			b.Fatal(err)
		}
	}
}
