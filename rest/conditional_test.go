package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

// TestCheckConditions goes through the order of RFC 9110, section 13.2.2.
func TestCheckConditions(t *testing.T) {
	t.Parallel()

	at := time.Date(2026, 11, 29, 20, 0, 0, 700, time.FixedZone("", 3600))
	const (
		same, later          = "Sun, 29 Nov 2026 19:00:00 GMT", "Sun, 29 Nov 2026 19:00:01 GMT"
		earlier              = "Sun, 29 Nov 2026 18:59:59 GMT"
		match, none          = "If-Match", "If-None-Match"
		unmodified, modified = "If-Unmodified-Since", "If-Modified-Since"
	)
	states := map[string]rest.Validators{
		"strong": {Tag: `"a,b"`, Modified: at}, "weak": {Tag: `W/"a"`}, "timed": {Modified: at}, "missing": {},
	}
	check := func(ctx context.Context, in struct {
		State string `path:"state"`
	},
	) (string, error) {
		return "done", rest.CheckConditions(ctx, states[in.State])
	}
	api := serve(func(r *rest.Routes) {
		rest.Get(r, "/{state}", check, rest.Name("read"), rest.Conditional())
		rest.Put(r, "/{state}", check, rest.Name("write"), rest.Conditional())
		rest.Get(r, "/", func(ctx context.Context, _ struct{}) (string, error) {
			return "", rest.CheckConditions(ctx, rest.Validators{Tag: "7"})
		}, rest.Name("bare"))
	})
	for _, c := range []struct {
		state, name, value string
		get, put           int
	}{
		{"strong", "X", "", 200, 200},
		{"strong", match, `"x", "a,b"`, 200, 200},
		{"strong", match, `"x"`, 412, 412},
		{"strong", match, `W/"a,b"`, 412, 412},
		{"strong", match, "*", 200, 200},
		{"missing", match, "*", 412, 412},
		{"strong", match, "a,b", 412, 412},
		{"weak", match, `W/"a"`, 412, 412},
		{"strong", none, `"x" ,W/"a,b"`, 304, 412},
		{"strong", none, `"x"`, 200, 200},
		{"strong", none, "*", 304, 412},
		{"missing", none, "*", 200, 200},
		{"strong", none, `x, "y`, 200, 412},
		{"weak", none, `"a"`, 304, 412},
		{"timed", none, "*", 304, 412},
		{"timed", none, `""`, 200, 200},
		{"timed", unmodified, same, 200, 200},
		{"timed", unmodified, earlier, 412, 412},
		{"timed", unmodified, "never", 200, 200},
		{"weak", unmodified, earlier, 200, 200},
		{"timed", modified, same, 304, 200},
		{"timed", modified, later, 304, 200},
		{"timed", modified, earlier, 200, 200},
		{"timed", modified, "never", 200, 200},
		{"weak", modified, same, 200, 200},
	} {
		for method, want := range map[string]int{http.MethodGet: c.get, http.MethodHead: c.get, http.MethodPut: c.put} {
			a := resttest.Do[any](t, api, method, "/"+c.state, resttest.Header(c.name, c.value))
			if a.Status != want || want == 304 && a.Text != "" {
				t.Errorf("%s of %s with %s: %s: got %d %q, want %d", method, c.state, c.name, c.value, a.Status, a.Text, want)
			}
		}
	}

	// A tag counts more than a time.
	tagged := []resttest.Option{resttest.Header(none, `"x"`), resttest.Header(modified, later)}
	wantStatus(t, api, http.MethodGet, "/strong", http.StatusOK, tagged...)
	tagged = []resttest.Option{resttest.Header(match, `"a,b"`), resttest.Header(unmodified, earlier)}
	wantStatus(t, api, http.MethodPut, "/strong", http.StatusOK, tagged...)

	headers := func(method string, options ...resttest.Option) []any {
		a := resttest.Do[any](t, api, method, "/strong", options...)
		return []any{a.Status, a.Header.Get("ETag"), a.Header.Get("Last-Modified"), a.Header.Get("Cache-Control")}
	}
	wantDiff(t, "headers of a 200", []any{200, `"a,b"`, same, ""}, headers(http.MethodGet))
	wantDiff(t, "headers of a 304", []any{304, `"a,b"`, same, ""}, headers(http.MethodGet, resttest.Header(none, "*")))
	wantDiff(t, "headers of a 412", []any{412, `"a,b"`, same, "no-store"},
		headers(http.MethodPut, resttest.Header(match, `"x"`)))
	wantDiff(t, "headers of a write", []any{200, "", "", ""}, headers(http.MethodPut))
	wantStatus(t, api, http.MethodGet, "/", http.StatusInternalServerError) // a tag without quotes

	if err := rest.CheckConditions(t.Context(), rest.Validators{}); err == nil || errors.As(err, new(*rest.Error)) {
		t.Errorf("got %v without a request", err)
	}
	d := document(t, api)
	wantParams := func(method string, want ...string) {
		t.Helper()
		var got []string
		all, _ := atPath(d, "/{state}", method, "parameters").([]any)
		for _, p := range all {
			if object, ok := p.(map[string]any); ok && object["in"] == "header" {
				name, _ := object["name"].(string)
				got = append(got, name)
			}
		}
		wantDiff(t, method, want, got)
	}
	wantParams("get", none, modified)
	wantParams("put", match, unmodified, none)
	for _, way := range []string{"get 200 headers ETag", "get 304 headers Last-Modified", "put 412 headers ETag"} {
		steps := strings.Fields(way)
		if atPath(d, append([]string{"/{state}", steps[0], "responses"}, steps[1:]...)...) == nil {
			t.Errorf("%s is not documented", way)
		}
	}
	if atPath(d, "/{state}", "get", "responses", "304", "content") != nil ||
		atPath(d, "/{state}", "put", "responses", "304") != nil {
		t.Error("a 304 is documented with a body, or for a write")
	}
}

func atPath(d any, path ...string) any { return at(d, append([]string{"paths"}, path...)...) }
