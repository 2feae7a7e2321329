package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/wire"
)

// What the contract allows and controllers do not is still allowed: bodies that do not say
// what they are, and queries on endpoints that read none.
func TestMildBodies(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	for name, c := range map[string]call{
		"NoType": {body: `{"threadId":"%","prompt":"p"}`, header: map[string]string{"Content-Type": ""}},
		"Text":   {body: `{"threadId":"%","prompt":"p"}`, header: map[string]string{"Content-Type": "text/plain"}},
		"Charset": {
			body: `{"threadId":"%","prompt":"p"}`, header: map[string]string{"Content-Type": "application/json; charset=latin1"},
		},
		"Deep": {
			body: `{"threadId":"%","prompt":"p","x":` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}`,
		},
		"BadQuery":    {path: "?x=%zz;y", body: `{"threadId":"%","prompt":"p"}`},
		"EscapedPath": {body: `{"threadId":"%","prompt":"p"}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c.method, c.token = http.MethodPost, tokenA
			c.path = runPath + c.path
			if name == "EscapedPath" {
				c.path = "/api/agent%2Frun"
			}
			c.body = strings.ReplaceAll(c.body, "%", name)
			got := b.do(t, c)
			if got.status != http.StatusAccepted || !strings.Contains(got.body, `"threadId":"`+name+`"`) {
				t.Errorf("got %d %s", got.status, got.body)
			}
		})
	}
}

// The same holds for queries and headers: the first of several counts, an empty parameter is
// an absent one, and a cursor that is no text is no cursor.
func TestMildQueries(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{})
	b.as(t, tokenA, http.MethodPost, runPath, `{"threadId":"t1","prompt":"hello"}`)
	for _, c := range []struct {
		path   string
		status int
		want   string
	}{
		{historyPath + "?threadId=t1&threadId=none", 200, `"id":"t1"`},
		{historyPath + "?threadId=&threadId=t1", 400, "threadId is required"},
		{historyPath + "?threadId=t1&limit=&before=", 200, `"id":"t1"`},
		{historyPath + "?threadId=t1&limit=1&limit=x", 200, `"id":"t1"`},
		{historyPath + "?threadId=t1&lastMessageId=%ff%00", 200, `"id":"t1"`},
		{historyPath + "?threadId=t%ff", 400, "threadId" + badChars},
		{historyPath + "?threadId=t1;x=1", 400, "the query of the URL is malformed"},
		{historyPath + "?threadId=t1&lastMessageId=a%3Bb", 200, `"id":"t1"`},
		{historyPath + "?threadId=t1&ju%3Bnk=1", 200, `"id":"t1"`},
		{historyPath + "?threadId=t1&junk=a;b", 400, "the query of the URL is malformed"},
		{historyPath + "?threadId=t1&x=%zz", 400, "the query of the URL is malformed"},
		{"/api%2Fagent/history?threadId=t1", 200, `"id":"t1"`},
		{threadsPath + "?limit=%2B1", 200, `"id":"t1"`},
		{threadsPath + "?junk=1", 200, `"id":"t1"`},
	} {
		if got := b.as(t, tokenA, http.MethodGet, c.path, ""); got.status != c.status || !strings.Contains(got.body, c.want) {
			t.Errorf("%s: %d %s", c.path, got.status, got.body)
		}
	}
	watch := b.stream(t, call{
		path: streamPath + "?threadId=t1&cursor=%ff&since=", token: tokenA,
		header: map[string]string{"Last-Event-ID": "\xff"},
	})
	watch.until(t, state(wire.Queued))
}

// A body is not read before it is known who sends it.
func TestBodyAfterCredentials(t *testing.T) {
	t.Parallel()

	b := setup(t, server.Config{MaxBodyBytes: 64})
	large := `{"threadId":"` + strings.Repeat("x", 100) + `"}`
	for token, want := range map[string]int{"": 401, readOnlyA: 403, tokenA: 413} {
		if got := b.as(t, token, http.MethodPost, controlPath, large); got.status != want {
			t.Errorf("with token %q: %d %s", token, got.status, got.body)
		}
	}
}
