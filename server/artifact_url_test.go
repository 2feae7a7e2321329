package server_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/server"
)

const badArtifactURL = `{"error":"the URL is not valid, or not any more","code":"forbidden"}`

// signedURL gets a URL of an artifact of tenant a's thread t1.
func (u *uploads) signedURL(t *testing.T, id, query string) string {
	t.Helper()

	got := u.as(t, tokenA, http.MethodPost, artifactsPath+"/"+id+"/url?threadId=t1"+query, "")
	var out struct {
		URL       string
		ExpiresAt time.Time
	}
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if left := time.Until(out.ExpiresAt); query == "" && (left < 4*time.Minute || left > 5*time.Minute) {
		t.Errorf("the URL lasts %s", left)
	}
	if got.header.Get("Referrer-Policy") != "no-referrer" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("the headers of a URL: %v", got.header)
	}
	return out.URL
}

func (u *uploads) opens(t *testing.T, path string) answer {
	t.Helper()
	return u.do(t, call{method: http.MethodGet, path: path})
}

func (u *uploads) refuses(t *testing.T, what, path string) {
	t.Helper()
	if got := u.opens(t, path); got.status != http.StatusForbidden || got.body != badArtifactURL ||
		got.header.Get("Content-Disposition") != "" {
		t.Errorf("%s: %d %s for %s", what, got.status, got.body, path)
	}
}

// A signed URL has the data for whoever has it, as a file that runs nothing.
func TestArtifactURL(t *testing.T) {
	t.Parallel()

	u := setupUploads(t, server.Config{StreamTokenKeys: [][]byte{[]byte(strings.Repeat("k", 32))}})
	hostile := `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`
	id := string(artifactOf(t, u.upload(t, "&name=a.svg", hostile, "Content-Type", "image/svg+xml")).ID)
	signed := u.signedURL(t, id, "")
	got := u.opens(t, signed)
	if got.status != http.StatusOK || got.body != hostile {
		t.Fatalf("%d %s", got.status, got.body)
	}
	for name, want := range map[string]string{
		"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "sandbox; default-src 'none'",
		"Content-Disposition": "attachment; filename=a.svg", "Cross-Origin-Resource-Policy": "cross-origin",
	} {
		if have := got.header.Get(name); have != want {
			t.Errorf("%s is %q, want %q", name, have, want)
		}
	}
	lasts, err := time.ParseDuration(strings.TrimPrefix(got.header.Get("Cache-Control"), "private, max-age=") + "s")
	if err != nil || lasts > 5*time.Minute || lasts < 4*time.Minute {
		t.Errorf("Cache-Control %q", got.header.Get("Cache-Control"))
	}
	part := u.do(t, call{method: http.MethodGet, path: signed, header: map[string]string{"Range": "bytes=0-3"}})
	if part.status != http.StatusPartialContent || part.body != "<svg" {
		t.Errorf("a range: %d %s", part.status, part.body)
	}
	if head := u.do(t, call{method: http.MethodHead, path: signed}); head.status != http.StatusOK {
		t.Errorf("HEAD: %d", head.status)
	}
	if wrong := u.as(t, tokenB, http.MethodGet, signed, ""); wrong.status != http.StatusOK {
		t.Errorf("with credentials that do not count: %d %s", wrong.status, wrong.body)
	}
	token, _ := url.Parse(signed)
	if logged := u.logged.String(); strings.Contains(logged, token.Query().Get("token")) ||
		strings.Contains(logged, "token=") {
		t.Errorf("the log has the signature: %s", logged)
	}
	for query, want := range map[string]string{
		"&expiresIn=61m": "expiresIn", "&expiresIn=0s": "expiresIn", "&expiresIn=-1m": "expiresIn",
		"&expiresIn=soon": "expiresIn",
	} {
		if got := u.as(
			t, tokenA, http.MethodPost, artifactsPath+"/"+id+"/url?threadId=t1"+query, "",
		); got.status != http.StatusBadRequest || !strings.Contains(got.body, want) {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
}

// Whatever is changed in a signed URL, it gets the same answer, which says nothing.
func TestAttackArtifactURL(t *testing.T) {
	t.Parallel()

	old, present := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("k", 32))
	u := setupUploads(t, server.Config{StreamTokenKeys: [][]byte{present, old}})
	first := string(artifactOf(t, u.upload(t, "", "first")).ID)
	second := string(artifactOf(t, u.upload(t, "", "second")).ID)
	signed := u.signedURL(t, first, "")
	if got := u.opens(t, signed); got.body != "first" {
		t.Fatalf("%d %s", got.status, got.body)
	}
	path, query, _ := strings.Cut(signed, "?")
	for i := range len(query) {
		for _, bit := range []byte{1, 32} {
			changed := []byte(query)
			if changed[i] ^= bit; changed[i] <= ' ' || changed[i] == '#' || changed[i] == 0x7f {
				continue // it cannot be sent
			}
			u.refuses(t, "another byte", path+"?"+string(changed))
		}
		u.refuses(t, "a byte less", path+"?"+query[:i]+query[i+1:])
		u.refuses(t, "a line feed more", path+"?"+query[:i]+"%0A"+query[i:])
		u.refuses(t, "cut", path+"?"+query[:i])
	}
	u.refuses(t, "another artifact", strings.Replace(signed, first, second, 1))
	u.refuses(t, "no artifact", strings.Replace(signed, first, "art_none", 1))
	u.refuses(t, "no token", path)
	u.refuses(t, "two tokens", signed+"&"+query)
	u.refuses(t, "a very long token", signed+strings.Repeat("A", 5000))

	stream := u.streamToken(t, tokenA, "t1")
	u.refuses(t, "the token of a stream", path+"?token="+url.QueryEscape(stream))
	token := strings.TrimPrefix(query, "token=")
	if got := u.do(
		t, call{method: http.MethodGet, path: streamPath + "?threadId=t1&token=" + token},
	); got.status != http.StatusUnauthorized {
		t.Errorf("the token of a URL opens a stream: %d", got.status)
	}
	other := setupUploads(t, server.Config{StreamTokenKeys: [][]byte{old}})
	if id := string(artifactOf(t, other.upload(t, "", "first")).ID); id != first {
		t.Fatalf("the artifact is %s", id)
	}
	other.refuses(t, "an unknown key", signed)
	if got := u.as(
		t, tokenB, http.MethodPost, path[:len(path)-len("/data")]+"/url?threadId=t1", "",
	); got.status != http.StatusNotFound {
		t.Errorf("another tenant asks: %d %s", got.status, got.body)
	}
}

// A URL that an earlier key has signed works as long as the key is configured.
func TestArtifactURLAfterRotation(t *testing.T) {
	t.Parallel()

	old, present := []byte(strings.Repeat("o", 32)), []byte(strings.Repeat("k", 32))
	u := setupUploads(t, server.Config{StreamTokenKeys: [][]byte{old}})
	id := string(artifactOf(t, u.upload(t, "", "first")).ID)
	signed := u.signedURL(t, id, "")
	for name, c := range map[string]struct {
		keys   [][]byte
		status int
	}{"Rotated": {[][]byte{present, old}, 200}, "Gone": {[][]byte{present}, 403}} {
		again, err := server.New(u.engine, server.Config{Authenticator: twoTenants(t), StreamTokenKeys: c.keys})
		if err != nil {
			t.Fatal(err)
		}
		if status, text := handle(t, again, http.MethodGet, signed); status != c.status {
			t.Errorf("%s: %d %s", name, status, text)
		}
	}
}

// A URL ends with its artifact, also if the thread is made again and has the same file.
func TestArtifactURLEnds(t *testing.T) {
	t.Parallel()

	u := setupUploads(t, server.Config{})
	upload := func() string { return string(artifactOf(t, u.upload(t, "", "first")).ID) }
	id := upload()
	signed, short := u.signedURL(t, id, ""), u.signedURL(t, id, "&expiresIn=1s")
	within(t, "the short URL expires", func() {
		for u.opens(t, short).status == http.StatusOK { //nolint:revive // it waits for the next second
		}
	})
	u.refuses(t, "expired", short)
	if got := u.opens(t, signed); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	if got := u.as(t, tokenA, http.MethodDelete, "/api/threads?threadId=t1", ""); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	u.refuses(t, "a deleted thread", signed)
	u.says(t, "t1", "hello", "")
	u.refuses(t, "a new thread without it", signed)
	if again := upload(); again != id {
		t.Fatalf("the artifact is %s", again)
	}
	u.refuses(t, "a new thread with the same file", signed)
	if got := u.opens(t, u.signedURL(t, id, "")); got.status != http.StatusOK {
		t.Errorf("a new URL: %d %s", got.status, got.body)
	}
}

// handle has a server answer a request without credentials.
func handle(t *testing.T, s http.Handler, method, path string) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, path, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
