package strictjson_test

import (
	"encoding/json"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
)

type answer struct {
	Approved *bool           `json:"approved"`
	Payload  json.RawMessage `json:"payload,omitempty"`
	Count    int             `json:"count"`
	Parts    []part          `json:"parts"`
	Options  map[string]part `json:"options"`
	Hidden   string          `json:"-"`
}

type part struct {
	URL string `json:"url"`
}

func TestCheck(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{}`: "", ` { "approved" : true , "count":12} `: "", `{"other":1,"OTHER":2,"other":{"approved":[]}}`: "",
		`{"payload":{"a":1,"a":2},"approved":false}`:           "",
		`{"hidden":1,"Hidden":2}`:                              "",
		`{"parts":[{"url":"a\"]}"},{"url":"b"},{}],"count":1}`: "",
		`{"options":{"a":{},"A":{}}}`:                          "",
		`{"approved":false,"APPROVED":true}`:                   `approved must be spelled exactly so, not "APPROVED"`,
		`{"approved":false,"approved":true}`:                   `approved is there twice`,
		`{"Approved":true}`:                                    `approved must be spelled exactly so, not "Approved"`,
		`{"approved":1,"\u0061pproved":2}`:                     `approved is there twice`,
		`{"payload":[{"x":"}"}],"payload":null}`:               `payload is there twice`,
		`{"partſ":[]}`:                                         `parts must be spelled exactly so, not "partſ"`,
		`{"parts":[{"url":""}, {"url":"a","url":"b"}]}`:        `parts[1].url is there twice`,
		`{"options":{"a":{},"b":{"URL":1}}}`:                   `options.b.url must be spelled exactly so, not "URL"`,
		`{"options":{"a":{},"a":{}}}`:                          `options.a is there twice`,
	} {
		err := strictjson.Check([]byte(text), &answer{})
		if got := spool.MessageOf(err); err != nil && (got != want || spool.CodeOf(err) != spool.Invalid) ||
			err == nil && want != "" {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// What is decoded has the right types and no doubtful key, and what is refused changes nothing.
func TestDecode(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		`{"approved":true,"count":-3,"parts":[{"url":"a"},null],"options":{"a":{}},"payload":7,"other":[]}`: "",
		`{"approved":null,"parts":null}`:       "",
		`{"approved":"yes"}`:                   "in.approved must be true or false",
		`{"count":1.5}`:                        "in.count must be an integer",
		`{"count":99999999999999999999}`:       "in.count must be an integer",
		`{"count":"1"}`:                        "in.count must be an integer",
		`{"parts":[{"url":"a"},{"url":[{}]}]}`: "in.parts[1].url must be a string",
		`{"parts":[[]]}`:                       "in.parts[0] must be an object",
		`{"parts":{}}`:                         "in.parts must be an array",
		`{"options":{"a":1}}`:                  "in.options.a must be an object",
		`{"options":[]}`:                       "in.options must be an object",
		`[]`:                                   "in must be an object",
		`{"parts":[{"url":"a","URL":"b"}]}`:    `in.parts[0].url must be spelled exactly so, not "URL"`,
		`{"approved":true,`:                    "in is not JSON",
		``:                                     "in is not JSON",
	} {
		var got answer
		err := strictjson.Decode("in", []byte(text), &got)
		if said := spool.MessageOf(err); err != nil &&
			(said != want || spool.CodeOf(err) != spool.Invalid || got.Approved != nil || got.Parts != nil) ||
			err == nil && want != "" {
			t.Errorf("%s: %v, want %q, and got %+v", text, err, want, got)
		}
	}
	for text, want := range map[string]bool{"\n{}": true, "[{}]": false, "": false, "null": false, `"{"`: false} {
		if strictjson.IsObject([]byte(text)) != want {
			t.Errorf("%s: is an object: %t", text, !want)
		}
	}
}

// A text that is taken has one meaning: what decodes it gives the same when keys are compared
// exactly. Nothing that is no JSON makes the check fail otherwise than by an error.
func FuzzCheck(f *testing.F) {
	for _, seed := range []string{
		`{"approved":true}`, `[1]`, `{"parts":[{"url":"\\"}]}`, `{"count":1e9,"parts":[[]]}`, `"x"`, `{`, ``, `{"a`,
		`{"approved"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got answer
		err := strictjson.Check(text, &got)
		if err != nil || json.Unmarshal(text, &got) != nil {
			return
		}
		var exact map[string]json.RawMessage
		if json.Unmarshal(text, &exact) != nil {
			return
		}
		var want bool
		if said := exact["approved"]; said == nil || json.Unmarshal(said, &want) != nil || string(said) == "null" {
			if got.Approved != nil {
				t.Fatalf("%s was taken for approved: %v", text, *got.Approved)
			}
		} else if got.Approved == nil || *got.Approved != want {
			t.Fatalf("%s was not taken for approved: %v", text, want)
		}
	})
}
