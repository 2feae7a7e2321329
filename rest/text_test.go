package rest_test

import (
	"bytes"
	"context"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// A text that is no Unicode, or has a NUL, is refused by the name of its field, whatever
// has it.
func TestTextIsUnicode(t *testing.T) {
	t.Parallel()

	type note struct {
		Text string            `json:"text"`
		Tags []string          `json:"tags,omitempty"`
		More map[string]string `json:"more,omitempty"`
		Any  any               `json:"any,omitempty"`
	}
	type form struct {
		Text string   `form:"text"`
		Tags []string `form:"tag"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/json", func(_ context.Context, in note) (note, error) { return in, nil })
		rest.Post(r, "/form", func(_ context.Context, in form) (string, error) { return in.Text, nil })
	})
	multi := func(name, text string) (body, contentType string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		_ = w.WriteField(name, text)
		_ = w.Close()
		return b.String(), w.FormDataContentType()
	}
	check := func(path, body, contentType, want string) {
		t.Helper()
		r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		status, text := record(api, r)
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("%s %q: got %d %s, want %s", path, body, status, text, want)
		}
	}
	for text, kind := range map[string]string{"a\xff": "string_unicode", "a\x00": "string_nul"} {
		fault := func(location string) string { return `"location":"` + location + `"` }
		for _, in := range []struct{ body, location string }{
			{`{"text":"` + text + `"}`, "body.text"},
			{`{"text":"","tags":["` + text + `"]}`, "body.tags[0]"},
			{`{"text":"","more":{"` + text + `":""}}`, "body.more.a\ufffd"},
			{`{"text":"","any":[{"x":"` + text + `"}]}`, "body.any[0].x"},
			{`{"text":"","` + text + `":1}`, "body.a\ufffd"},
		} {
			if kind == "string_nul" {
				in.body = strings.ReplaceAll(in.body, "\x00", `\u0000`)
			}
			check("/json", in.body, "application/json", fault(in.location))
			check("/json", in.body, "application/json", kind)
		}
		check("/form", url.Values{"text": {text}}.Encode(), "application/x-www-form-urlencoded", fault("form.text"))
		check("/form", url.Values{"tag": {"a", text}}.Encode(), "application/x-www-form-urlencoded", fault("form.tag[1]"))
		body, contentType := multi("text", text)
		check("/form", body, contentType, fault("form.text"))
		check("/form", body, contentType, kind)
	}
	check("/json", `{"text":"\ud800"}`, "application/json", `"body.text"`)
}
