package plainjson_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool/internal/plainjson"
)

// read reads {"text": string or null, "n": scalar, "list": null or []}, in any order.
func read(text string) (said string, ok bool) {
	r := plainjson.New(text)
	var seen plainjson.Fields
	for r.Open('{'); r.More('}'); {
		switch r.Key(&seen) {
		case "text":
			said = r.NullOrStr()
		case "n":
			r.Scalar()
		case "list":
			r.None()
		default:
			r.Fail()
		}
	}
	return said, r.End()
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{
		`{}`, `{"text":"a\n\u00e9é"}`, ` { "n" : -1.5e3 , "text" : null } `, `{"n":true,"list":[],"text":"x"}`,
		`{"text":"a","text":"b"}`, `{"text":"a"`, `{"text":"a",}`, `{"n":01}`, `{"list":[1]}`, "{\"text\":\"\xff\"}",
		`{"text":"a\q"}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said, ok := read(text)
		if !ok {
			return
		}
		var want struct {
			Text string
		}
		if err := json.Unmarshal([]byte(text), &want); err != nil || want.Text != said {
			t.Errorf("%q: got %q, want %q, %v", text, said, want.Text, err)
		}
	})
}

func TestReader(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]bool{
		`{"text":"a","n":1,"list":null}`: true,
		`{"text":"a"}`:                   true,
		`{"text":"a"}{}`:                 false,
		`{"text":"a","text":"a"}`:        false,
		`{"other":1}`:                    false,
		`["text"]`:                       false,
		``:                               false,
	} {
		if _, ok := read(text); ok != want {
			t.Errorf("%s: got %t", text, ok)
		}
	}
}
