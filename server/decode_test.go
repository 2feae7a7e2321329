package server

import (
	"encoding/json"
	"reflect"
	"testing"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// Whatever a body is, decoding it either fails with something to tell the client, or
// gives a request that means the same when it is sent again.
func FuzzDecodeRun(f *testing.F) {
	for _, seed := range []string{
		`{"threadId":"t","prompt":"p","agent":"a","model":"m","editMessageId":"e","clientMessageId":"c","runId":"r","maxSteps":3,"attachments":[{"url":"u","mediaType":"m"}]}`,
		`{"prompt":null,"maxSteps":null}`, `{"maxSteps":1.5}`, `{"attachments":[1]}`, `{"prompt":"\ud800"}`, `[]`, `null`, ``, `{`, `{} {}`, `{"a":{"b":[[[[]]]]}}`,
		`{"PROMPT":"p","prompt":"q"}`, "\ufeff{}", `{"prompt":"p"}x`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		var in runRequest
		if err := decodeObject(body, &in); err != nil {
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) == "" || !utf8.ValidString(spool.MessageOf(err)) {
				t.Fatalf("error %v of code %s", err, spool.CodeOf(err))
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("accepted %q", body)
		}
		if err := in.check(); err != nil {
			if spool.CodeOf(err) != spool.Invalid {
				t.Fatalf("check: %v", err)
			}
			return
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out runRequest
		if err := decodeObject(again, &out); err != nil || len(in.Attachments) > 0 && !reflect.DeepEqual(in, out) {
			t.Fatalf("%+v came back as %+v: %v", in, out, err)
		}
	})
}

func FuzzDecodeRespond(f *testing.F) {
	f.Add([]byte(`{"threadId":"t","toolCallId":"c","approved":true,"payload":{"a":[1,null,"x"]}}`))
	f.Add([]byte(`{"threadId":"t","toolCallId":"c","approved":false,"payload":null}`))
	f.Add([]byte(`{"threadId":"t","toolCallId":"c","approved":true,"arguments":{"to":"x"},"reason":"why","digest":"sha256:0"}`))
	f.Add([]byte(`{"approved":"yes"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in respondRequest
		if decodeObject(body, &in) != nil || in.check() != nil {
			return
		}
		for _, text := range []json.RawMessage{in.Payload, in.Arguments} {
			if text != nil && !json.Valid(text) {
				t.Fatalf("the JSON %q", text)
			}
		}
	})
}
