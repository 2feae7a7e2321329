package server_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/spoolhq/spool/server"
)

// send has a server answer a request of who has the token, until ctx ends.
func send(ctx context.Context, s *server.Server, token, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(ctx, method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A stream of a subject that sees only its own threads ends when the thread is given to another
// subject, before anything else is said in it. A stream of who sees all threads goes on.
func TestStreamsEndWithTheOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e, s := tokenServer(t, ownedConfig(t))
		defer e.Close()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		give := func(owner string) {
			t.Helper()
			if got := send(
				ctx, s, tokenA, http.MethodPatch, threadsPath, `{"threadId":"t1","owner":"`+owner+`"}`,
			); got.Code != http.StatusOK {
				t.Fatal(got.Code, got.Body)
			}
		}
		give("otto")
		var short struct{ Token string }
		if err := json.Unmarshal(
			send(ctx, s, ottoToken, http.MethodPost, streamTokenPath, `{"threadId":"t1"}`).Body.Bytes(), &short,
		); err != nil || short.Token == "" {
			t.Fatal(err)
		}
		open := func(token, path string, into chan<- *httptest.ResponseRecorder) {
			go func() { into <- send(ctx, s, token, http.MethodGet, path, "") }()
		}
		ottos, others := make(chan *httptest.ResponseRecorder, 5), make(chan *httptest.ResponseRecorder, 4)
		for _, format := range []string{"", "&wireFormat=ag-ui"} {
			open(ottoToken, streamPath+"?threadId=t1"+format, ottos)
			open("", tokenURL("t1", short.Token)+format, ottos)
			open(teamToken, streamPath+"?threadId=t1"+format, others)
			open(tokenA, streamPath+"?threadId=t1"+format, others)
		}
		posted := make(chan *httptest.ResponseRecorder, 1)
		go func() {
			got := send(ctx, s, ottoToken, http.MethodPost, "/api/agent/ag-ui",
				`{"threadId":"t1","runId":"again","messages":[]}`)
			posted <- got
			ottos <- got
		}()
		synctest.Wait()
		if len(ottos) > 0 || len(others) > 0 {
			t.Fatal("a stream ends before the change")
		}
		give("anna")
		synctest.Wait()
		if n := len(ottos); n != 5 {
			t.Errorf("%d of 5 streams of the former owner end with the change", n)
		}
		if got := (<-posted).Body.String(); !strings.HasSuffix(
			got, `data: {"type":"RUN_ERROR","message":"Thread not found","code":"not_found"}`+"\n\n",
		) {
			t.Errorf("the answer to the former owner's post is %s", got)
		}
		if len(others) > 0 {
			t.Error("a stream of who sees all threads ends")
		}
		post(t, s, controlPath, `{"threadId":"t1"}`) // no worker has begun its run
		post(t, s, runPath, `{"threadId":"t1","prompt":"secret of anna"}`)
		synctest.Wait()
		cancel()
		for range 5 {
			if got := <-ottos; got.Code != http.StatusOK || strings.Contains(got.Body.String(), "secret") {
				t.Errorf("the former owner gets %d %s", got.Code, got.Body)
			}
		}
		told := 0
		for range 4 {
			if got := <-others; strings.Contains(got.Body.String(), "secret") {
				told++
			}
		}
		if told == 0 {
			t.Error("nobody is told of what is said behind the change")
		}
		for token, path := range map[string]string{ottoToken: streamPath + "?threadId=t1", "": tokenURL("t1", short.Token)} {
			if got := send(t.Context(), s, token, http.MethodGet, path, ""); got.Code != http.StatusNotFound &&
				got.Code != http.StatusUnauthorized {
				t.Errorf("the former owner opens %s: %d", path, got.Code)
			}
		}
	})
}
