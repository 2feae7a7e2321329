package server_test

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/artifact/dir"
	"github.com/spoolhq/spool/backend/memory"
	"github.com/spoolhq/spool/engine"
	"github.com/spoolhq/spool/internal/testing/testwait"
	"github.com/spoolhq/spool/server"
	"github.com/spoolhq/spool/server/access"
)

const artifactsPath = "/api/agent/artifacts"

// uploads is a server that stores up to 1,000,000 bytes of a tenant, and 700,000 of one file.
type uploads struct {
	*bundle

	store *artifact.Store
	temp  string // the folder for data while they are read
}

func setupUploads(t *testing.T, c server.Config) *uploads {
	t.Helper()

	u := &uploads{temp: t.TempDir()}
	blobs, err := dir.OpenBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	u.store, err = artifact.New(memory.New(nil).Store, blobs,
		&artifact.Options{MaxBytes: 700_000, Quota: 1_000_000, TempDir: u.temp})
	if err != nil {
		t.Fatal(err)
	}
	u.bundle = setupOver(t, c, engine.Config{Artifacts: u.store})
	u.work(t)
	u.says(t, "t1", "hello", "")
	return u
}

// bytes returns how many bytes tenant a stores.
func (u *uploads) bytes(t *testing.T) int64 {
	t.Helper()
	n, err := u.store.Bytes(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// upload sends a file to the thread t1 of tenant a.
func (u *uploads) upload(t *testing.T, query, body string, header ...string) answer {
	t.Helper()
	c := call{
		method: http.MethodPost, path: artifactsPath + "?threadId=t1" + query, token: tokenA, body: body,
		header: map[string]string{"Content-Type": ""},
	}
	for i := 0; i < len(header); i += 2 {
		c.header[header[i]] = header[i+1]
	}
	return u.do(t, c)
}

func artifactOf(t *testing.T, got answer) spool.Artifact {
	t.Helper()
	var a spool.Artifact
	if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != http.StatusCreated {
		t.Fatalf("%d %s", got.status, got.body)
	}
	return a
}

const (
	pngBytes  = "\x89PNG\r\n\x1a\n0000"
	formKind  = "multipart/form-data; boundary=xx"
	formBegin = "--xx\r\nContent-Disposition: form-data; name=\"file\"; filename=\"../a.png\"\r\nContent-Type: text/html\r\n\r\n"
)

// A file is an artifact with the type of its data, by the body or by a form, and the same file is the same artifact.
func TestUpload(t *testing.T) {
	t.Parallel()

	u := setupUploads(t, server.Config{PublicURL: "https://a.example/agents"})
	for name, c := range map[string]struct {
		query, body string
		header      []string
		want        spool.Artifact
	}{
		"Raw": {
			"&name=a.csv", "1;2",
			[]string{"Content-Type", "text/csv; charset=utf-8"},
			spool.Artifact{Name: "a.csv", MediaType: "text/csv", Size: 3},
		},
		"Curl": {
			"", "1;2",
			[]string{"Content-Type", "application/x-www-form-urlencoded"},
			spool.Artifact{MediaType: "application/x-www-form-urlencoded", Size: 3},
		},
		"Disposition": {
			"", "1;2",
			[]string{"Content-Disposition", `attachment; filename="b.csv"`},
			spool.Artifact{Name: "b.csv", MediaType: "text/plain", Size: 3},
		},
		"Form": {
			"", formBegin + pngBytes + "\r\n--xx--\r\n",
			[]string{"Content-Type", formKind},
			spool.Artifact{Name: "a.png", MediaType: "image/png", Size: 12},
		},
		"NamedForm": {
			"&name=b.png", formBegin + pngBytes + "\r\n--xx--\r\n",
			[]string{"Content-Type", formKind},
			spool.Artifact{Name: "b.png", MediaType: "image/png", Size: 12},
		},
		"NoImage": {"", "<script>", []string{"Content-Type", "image/png"}, spool.Artifact{MediaType: "text/html", Size: 8}},
		"JSON": {
			"", "{", []string{"Content-Type", "application/json"}, spool.Artifact{MediaType: "application/json", Size: 1},
		},
	} {
		got := u.upload(t, c.query, c.body, c.header...)
		saved := artifactOf(t, got)
		if want := c.want; saved.Name != want.Name || saved.MediaType != want.MediaType || saved.Size != want.Size {
			t.Errorf("%s: got %+v", name, saved)
		}
		at := "https://a.example/agents" + artifactsPath + "/" + string(saved.ID) + "?threadId=t1"
		if got.header.Get("Location") != at {
			t.Errorf("%s: Location %q", name, got.header.Get("Location"))
		}
		if again := artifactOf(t, u.upload(t, c.query, c.body, c.header...)); again != saved {
			t.Errorf("%s: again %+v", name, again)
		}
		data := u.as(t, tokenA, http.MethodGet, artifactsPath+"/"+string(saved.ID)+"?threadId=t1", "")
		if data.status != http.StatusOK || int64(len(data.body)) != saved.Size {
			t.Errorf("%s: %d %q", name, data.status, data.body)
		}
	}
	if n := files(t, u.temp); n != 0 {
		t.Errorf("%d temporary files are left", n)
	}
}

// What is refused saves nothing, and says why.
func TestUploadIsRefused(t *testing.T) {
	t.Parallel()

	const other = "a-token-of-anton"
	callers, err := access.Tokens([]access.Token{
		{Token: tokenA, Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: access.AllScopes()}},
		{Token: tokenB, Principal: access.Principal{Tenant: "b", Subject: "bert", Scopes: access.AllScopes()}},
		{
			Token:     readOnlyA,
			Principal: access.Principal{Tenant: "a", Subject: "anna", Scopes: []access.Scope{access.ScopeRead}},
		},
		{Token: other, Principal: access.Principal{Tenant: "a", Subject: "anton", Scopes: []access.Scope{access.ScopeWrite}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	u := setupUploads(t, server.Config{OwnThreads: true, Authenticator: callers})
	fill := strings.Repeat("x", 600_000)
	artifactOf(t, u.upload(t, "", fill))
	for name, c := range map[string]struct {
		token, path, body, kind string
		status                  int
		want                    string
	}{
		"NoToken":     {"", "?threadId=t1", "x", "", 401, `"unauthorized"`},
		"NoScope":     {readOnlyA, "?threadId=t1", "x", "", 403, `"forbidden"`},
		"OtherTenant": {tokenB, "?threadId=t1", "x", "", 404, `{"error":"Thread not found","code":"not_found"}`},
		"OtherOwner":  {other, "?threadId=t1", "x", "", 404, `{"error":"Thread not found","code":"not_found"}`},
		"NoThread":    {tokenA, "?threadId=t2", "x", "", 404, `{"error":"Thread not found","code":"not_found"}`},
		"NoThreadID":  {tokenA, "", "x", "", 400, "threadId"},
		"Large":       {tokenA, "?threadId=t1", strings.Repeat("y", 700_001), "", 413, `"too_large"`},
		"Larger":      {tokenA, "?threadId=t1", strings.Repeat("y", 800_000), "", 413, `"too_large"`},
		"Full":        {tokenA, "?threadId=t1", strings.Repeat("y", 500_000), "", 507, `"storage_full"`},
		"TwoFiles": {
			tokenA, "?threadId=t1", formBegin + "1\r\n" + formBegin + "2\r\n--xx--", formKind, 400, "more than one file",
		},
		"NoFile": {tokenA, "?threadId=t1", "--xx--", formKind, 400, "file is required"},
		"NoEnd":  {tokenA, "?threadId=t1", formBegin + "1", formKind, 400, `"invalid"`},
	} {
		for _, chunked := range []bool{false, true} {
			r := call{
				method: http.MethodPost, path: artifactsPath + c.path, token: c.token, body: c.body,
				header: map[string]string{"Content-Type": c.kind},
			}
			if got := u.doChunked(t, r, chunked); got.status != c.status || !strings.Contains(got.body, c.want) {
				t.Errorf("%s, chunked %v: %d %.200s, want %d", name, chunked, got.status, got.body, c.status)
			}
		}
	}
	encoded := call{
		method: http.MethodPost, path: artifactsPath + "?threadId=t1", token: tokenA, body: "x",
		header: map[string]string{"Content-Encoding": "gzip"},
	}
	const wantEncoded = `{"error":"The body must not have a Content-Encoding: send the bytes of the file.","code":"unsupported_media_type"}`
	if got := u.do(t, encoded); got.status != http.StatusUnsupportedMediaType || got.body != wantEncoded ||
		got.header.Get("Accept-Encoding") != "identity" {
		t.Errorf("encoded: %d %v %s", got.status, got.header, got.body)
	}
	if n := u.bytes(t); n != 600_000 {
		t.Errorf("%d bytes are stored", n)
	}
	if n := files(t, u.temp); n != 0 {
		t.Errorf("%d temporary files are left", n)
	}
}

// An upload that the client cuts leaves nothing behind: no artifact, no room that is taken, no file.
func TestUploadIsCut(t *testing.T) {
	t.Parallel()

	u := setupUploads(t, server.Config{AccessLevel: slog.LevelInfo})
	ended := 0
	for name, begin := range map[string]string{
		"Length":  "Content-Length: 600000\r\n\r\n",
		"Chunked": "Transfer-Encoding: chunked\r\n\r\n7a120\r\n",
		"Form":    "Content-Type: " + formKind + "\r\nContent-Length: 600000\r\n\r\n" + formBegin,
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(u.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "POST "+artifactsPath+
			"?threadId=t1 HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nAuthorization: Bearer "+
			tokenA+"\r\n"+begin); err != nil {
			t.Fatal(err)
		}
		const goOn = "HTTP/1.1 100 Continue"
		if got, err := io.ReadAll(io.LimitReader(conn, int64(len(goOn)))); err != nil || string(got) != goOn {
			t.Fatalf("%s: %q, %v", name, got, err)
		}
		if _, err := io.WriteString(conn, strings.Repeat("x", 400_000)); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		ended++
		ctx := testwait.Context(t, "the upload ends")
		for strings.Count(u.logged.String(), "route="+artifactsPath+" ") != ended && ctx.Err() == nil { //nolint:revive // it waits for the log
		}
		if n, all := u.bytes(t), files(t, u.temp); n != 0 || all != 0 {
			t.Errorf("%s: %d bytes and %d files are left", name, n, all)
		}
	}
	all, err := u.engine.Artifacts(t.Context(), spool.ThreadKey{Tenant: "a", ID: "t1"})
	if err != nil || len(all) != 0 {
		t.Errorf("artifacts %v, %v", all, err)
	}
}

// A principal has a number of uploads under way, and others are not kept from theirs.
func TestUploadsAtTheSameTime(t *testing.T) {
	t.Parallel()

	u := setupUploads(t, server.Config{})
	var held []*io.PipeWriter
	done := make(chan int, 20)
	for range 16 {
		from, to := io.Pipe()
		held = append(held, to)
		began := make(chan struct{}, 1)
		r := u.request(t, call{
			method: http.MethodPost, path: artifactsPath + "?threadId=t1", token: tokenA,
			header: map[string]string{"Expect": "100-continue"},
		})
		r = r.WithContext(httptrace.WithClientTrace(r.Context(),
			&httptrace.ClientTrace{Got100Continue: func() { began <- struct{}{} }}))
		r.Body, r.ContentLength = from, -1
		go func() {
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				done <- 0
				return
			}
			_ = res.Body.Close()
			done <- res.StatusCode
		}()
		receive(t, "the handler reads", began)
	}
	if got := u.upload(t, "", "x"); got.status != http.StatusTooManyRequests || got.header.Get("Retry-After") == "" {
		t.Errorf("one more: %d %s", got.status, got.body)
	}
	c := call{method: http.MethodPost, path: artifactsPath + "?threadId=t1", token: secondA, body: "x"}
	if got := u.do(t, c); got.status != http.StatusCreated {
		t.Errorf("somebody else: %d %s", got.status, got.body)
	}
	for _, to := range held {
		_ = to.Close()
		if status := receive(t, "an upload ends", done); status != http.StatusCreated {
			t.Errorf("an upload got %d", status)
		}
	}
	if got := u.upload(t, "", "x"); got.status != http.StatusCreated {
		t.Errorf("after them: %d %s", got.status, got.body)
	}
}

// files counts the files of a folder.
func files(t *testing.T, folder string) int {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(fmt.Errorf("read %s: %w", folder, err))
	}
	return len(entries)
}
