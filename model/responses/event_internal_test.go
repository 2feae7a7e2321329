package responses

import (
	"reflect"
	"testing"

	"github.com/spoolhq/spool/internal/lenient"
)

// FuzzPlain checks that an event without reflection is read as by encoding/json.
func FuzzPlain(f *testing.F) {
	for _, text := range []string{
		`{"type":"response.output_text.delta","sequence_number":5,"item_id":"msg_1","output_index":1,"content_index":0,"delta":"a\n\u00e9","logprobs":[],"obfuscation":"x"}`,
		`{"type":"response.reasoning_summary_text.delta","summary_index":2,"delta":"so"}`,
		`{"delta":1}`, `{"type":null}`, `{"output_index":1.5}`, `{"output_index":"1"}`, `{"sequence_number":null}`,
		`{"logprobs":[{}]}`, `{}`, `{"Delta":"a"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var got, want event
		if !got.plain(text) {
			return
		}
		want.counts = got.counts
		if err := lenient.Object([]byte(text), &want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %+v, want %+v, %v", text, got, want, err)
		}
	})
}

// The pieces of an answer are read without reflection.
func TestPlain(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		`{"type":"response.output_text.delta","sequence_number":5,"item_id":"m","output_index":1,"content_index":0,"delta":"a","logprobs":[],"obfuscation":"x"}`: true,
		`{"type":"response.function_call_arguments.delta","sequence_number":5,"item_id":"m","output_index":1,"delta":"{"}`:                                       true,
		`{"type":"response.output_item.done","item":{}}`:   false,
		`{"type":"response.output_text.delta","delta":{}}`: false,
	} {
		if got := new(event).plain(text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
