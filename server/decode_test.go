package server

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/server/runs"
)

// decoder is a controller that reads a body as the server's controllers do, and keeps it.
type decoder[T any] struct{ got *T }

// Routes implements [rest.Controller].
func (d *decoder[T]) Routes(r *rest.Routes) {
	rest.Post(r, "/", func(_ context.Context, in struct {
		Body *T `required:"true"`
	},
	) (rest.NoContent, error) {
		d.got = in.Body
		return rest.NoContent{}, nil
	})
}

// decode reads a body as a T, and returns nil and the error where the server would.
func decode[T any]() func(t *testing.T, text string) (*T, call.ErrorBody) {
	c := Config{MaxBodyBytes: 32 << 20}.withDefaults()
	api := rest.New(append(c.bodyRules(context.Background()), rest.MaxBody(c.MaxBodyBytes), historyMayLack,
		rest.Errors(call.ErrorBodies{}), rest.MapError(call.MapError))...)
	d := &decoder[T]{}
	api.Register(d)
	return func(t *testing.T, text string) (*T, call.ErrorBody) {
		t.Helper()
		d.got = nil
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(text)))
		var refusal call.ErrorBody
		if w.Code != http.StatusNoContent {
			if err := json.Unmarshal(w.Body.Bytes(), &refusal); err != nil || w.Code >= http.StatusInternalServerError {
				t.Fatalf("%d %s: %v", w.Code, w.Body, err)
			}
		}
		return d.got, refusal
	}
}

// Whatever a body is, decoding it either fails with something to tell the client, or gives a
// request that means the same when it is sent again.
func FuzzDecodeRun(f *testing.F) {
	for _, seed := range []string{
		`{"threadId":"t","prompt":"p","agent":"a","model":"m","editMessageId":"e","clientMessageId":"c","runId":"r","maxSteps":3,"attachments":[{"url":"u","mediaType":"m"}]}`,
		`{"prompt":null,"maxSteps":null}`, `{"maxSteps":1.5}`, `{"attachments":[1]}`, `{"prompt":"\ud800"}`, `[]`, `null`, ``,
		`{`, `{} {}`, `{"a":{"b":[[[[]]]]}}`, `{"PROMPT":"p","prompt":"q"}`, "\ufeff{}", `{"prompt":"p"}x`,
	} {
		f.Add([]byte(seed))
	}
	read := decode[runs.RunRequest]()
	f.Fuzz(func(t *testing.T, body []byte) {
		in, refusal := read(t, string(body))
		if in == nil {
			if refusal.Code != spool.Invalid && refusal.Code != call.CodeTooLarge || refusal.Error == "" ||
				!utf8.ValidString(refusal.Error) {
				t.Fatalf("%q: error %+v", body, refusal)
			}
			return
		}
		if !json.Valid(body) {
			t.Fatalf("accepted %q", body)
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if out, refusal := read(t, string(again)); out == nil || len(in.Attachments) > 0 && !cmp.Equal(in, out) {
			t.Fatalf("%+v came back as %+v: %+v", in, out, refusal)
		}
	})
}

func FuzzDecodeRespond(f *testing.F) {
	f.Add([]byte(`{"threadId":"t","toolCallId":"c","approved":true,"payload":{"a":[1,null,"x"]}}`))
	f.Add([]byte(`{"threadId":"t","toolCallId":"c","approved":false,"payload":null}`))
	f.Add(
		[]byte(`{"threadId":"t","toolCallId":"c","approved":true,"arguments":{"to":"x"},"reason":"why","digest":"sha256:0"}`),
	)
	f.Add([]byte(`{"approved":"yes"}`))
	read := decode[runs.RespondRequest]()
	f.Fuzz(func(t *testing.T, body []byte) {
		in, _ := read(t, string(body))
		if in == nil {
			return
		}
		for _, text := range []json.RawMessage{in.Payload, in.Arguments} {
			if text != nil && !json.Valid(text) {
				t.Fatalf("the JSON %q", text)
			}
		}
	})
}
