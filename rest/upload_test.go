package rest_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type uploaded struct {
	Folder string `query:"folder"`
	Body   rest.Upload
}

// saved says what a handler has read.
func saved(_ context.Context, in uploaded) (string, error) {
	text, err := io.ReadAll(in.Body)
	if err != nil {
		return "", fmt.Errorf("save: %w", err)
	}
	if _, err := in.Body.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read behind the end: %w", err)
	}
	if len(text) > 30 {
		text = fmt.Appendf(nil, "%d bytes", len(text))
	}
	return fmt.Sprintf("%s|%s|%s|%d|%s", in.Folder, in.Body.Name, in.Body.Type, in.Body.Size, text), nil
}

func uploads(options ...rest.APIOption) *rest.API {
	return serve(func(r *rest.Routes) { rest.Post(r, "/files", saved, rest.MaxBody(1000)) }, options...)
}

func TestUpload(t *testing.T) {
	t.Parallel()

	const form = "multipart/form-data; boundary=xx"
	file := func(field, text string) string {
		return "--xx\r\nContent-Disposition: form-data; " + field + "\r\nContent-Type: text/csv\r\n\r\n" + text + "\r\n"
	}
	one := file(`name="file"; filename="a.csv"`, "1;2")
	for name, c := range map[string]struct {
		kind, disposition, body string
		status                  int
		want                    string
	}{
		"Raw":       {"image/png; x=y", "", "\x00png", 200, `||image/png; x=y|4|\u0000png`},
		"Named":     {"", `attachment; filename="a b.png"`, "png", 200, `|a b.png||3|png`},
		"WrongName": {"", `attachment; filename=`, "png", 200, `|||3|png`},
		"Empty":     {"text/plain", "", "", 200, `||text/plain|0|`},
		"JSON":      {"application/json", "", "{", 200, `||application/json|1|{`},
		"Form":      {form, "", one + "--xx--", 200, `|a.csv|text/csv|-1|1;2`},
		"Fields": {
			form, "", file(`name="x"`, "y") + one + file(`name="z"`, "y") + "--xx--\r\nbye", 200, `|a.csv|text/csv|-1|1;2`,
		},
		"TwoFiles":    {form, "", one + one + "--xx--", 400, "more than one file"},
		"NoFile":      {form, "", file(`name="x"`, "y") + "--xx--", 422, "is required"},
		"NoEnd":       {form, "", one, 400, "could not be read"},
		"NoBeginning": {form, "", "", 422, "is required"},
		"NoBoundary":  {"multipart/form-data", "", one + "--xx--", 400, "could not be read"},
		"Large":       {"text/plain", "", strings.Repeat("x", 1001), 413, "larger than 1000 bytes"},
		"Fits":        {"text/plain", "", strings.Repeat("x", 1000), 200, `||text/plain|1000|1000 bytes`},
		"LargeForm": {
			form, "", file(`name="file"; filename="a"`, strings.Repeat("x", 1000)) + "--xx--", 413, "larger than 1000 bytes",
		},
		"LargeTail": {form, "", one + "--xx--" + strings.Repeat("x", 1000), 413, "larger than 1000 bytes"},
		"LargeField": {
			form, "", file(`name="x"`, strings.Repeat("x", 1000)) + one + "--xx--", 413, "larger than 1000 bytes",
		},
		"FormOfFields": {"application/x-www-form-urlencoded", "", "a=b", 200, `||application/x-www-form-urlencoded|3|a=b`},
	} {
		for _, length := range []string{"Known", "Chunked"} {
			t.Run(name+"/"+length, func(t *testing.T) {
				t.Parallel()
				r := httptest.NewRequest(http.MethodPost, "/files?folder=", strings.NewReader(c.body))
				want := c.want
				if length == "Chunked" {
					r.ContentLength = -1
					want = strings.NewReplacer("|4|", "|-1|", "|3|", "|-1|", "|0|", "|-1|", "|1|", "|-1|", "|1000|",
						"|-1|").Replace(want)
				}
				r.Header.Set("Content-Type", c.kind)
				r.Header.Set("Content-Disposition", c.disposition)
				status, text := record(uploads(), r)
				if status != c.status || !strings.Contains(text, want) {
					t.Errorf("got %d %s, want %d %s", status, text, c.status, want)
				}
			})
		}
	}
}

// What is stored has the type that the client says: an encoded body would have another.
func TestUploadIsEncoded(t *testing.T) {
	t.Parallel()

	for coding, want := range map[string]int{"gzip": 415, "identity, gzip": 415, "Identity": 200, "": 200} {
		r := httptest.NewRequest(http.MethodPost, "/files", strings.NewReader("png"))
		r.Header.Set("Content-Encoding", coding)
		status, text := record(uploads(), r)
		if status != want || status == 415 && !strings.Contains(text, "Content-Encoding") {
			t.Errorf("%q: got %d %s, want %d", coding, status, text, want)
		}
	}
}

// A typed request sends the bytes, and the document has both forms of an upload.
func TestUploadIsDescribed(t *testing.T) {
	t.Parallel()

	var e *rest.Endpoint[uploaded, string]
	api := serve(func(r *rest.Routes) { e = rest.Post(r, "/files", saved) })
	in := uploaded{Folder: "f", Body: rest.Upload{Reader: strings.NewReader("png"), Type: "image/png"}}
	if a := resttest.Call(t, api, e, in); a.Body != "f||image/png|3|png" {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	if a := resttest.Call(t, api, e, uploaded{}); a.Body != "|||0|" {
		t.Errorf("got %d %s", a.Status, a.Body)
	}
	content := at(document(t, api), "paths", "/files", "post", "requestBody", "content")
	for _, kind := range []string{"application/octet-stream", "multipart/form-data"} {
		if at(content, kind, "schema") == nil {
			t.Errorf("%s is not documented: %v", kind, content)
		}
	}
	wrong := mustPanic(t, func() { serve(func(r *rest.Routes) { rest.Get(r, "/files", saved) }) })
	if !strings.Contains(wrong, "a GET has no body") {
		t.Errorf("got %q", wrong)
	}
}

// A body that is cut is an error of the upload, however its length was said.
func TestUploadIsCut(t *testing.T) {
	t.Parallel()

	for name, begin := range map[string]string{
		"Length":  "Content-Length: 100\r\n\r\nsome",
		"Chunked": "Transfer-Encoding: chunked\r\n\r\n4\r\nsome\r\n",
		"Form":    "Content-Type: multipart/form-data; boundary=xx\r\nContent-Length: 900\r\n\r\n--xx\r\nContent-Disposition: form-data; name=a; filename=a\r\n\r\nsome",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			failed := make(chan error, 1)
			api := serve(func(r *rest.Routes) {
				rest.Post(r, "/files", func(_ context.Context, in uploaded) (string, error) {
					_, err := io.Copy(io.Discard, in.Body)
					failed <- err
					return "", err
				})
			})
			s := httptest.NewServer(api)
			defer s.Close()
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(conn, "POST /files HTTP/1.1\r\nHost: a\r\n"+begin); err != nil {
				t.Fatal(err)
			}
			if err := conn.Close(); err != nil {
				t.Fatal(err)
			}
			if err := <-failed; err == nil {
				t.Error("the handler took a part for the whole")
			}
		})
	}
}

// slowly is a body that sends some bytes every second.
type slowly struct{ each, rest int }

func (s *slowly) Read(p []byte) (int, error) {
	if s.rest == 0 {
		return 0, io.EOF
	}
	n := min(s.rest, len(p))
	s.rest -= n
	<-time.After(time.Second * time.Duration(n) / time.Duration(s.each))
	return n, nil
}

// A client that sends enough may take longer than the timeout. One that does not is cut off.
func TestUploadIsSlow(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct{ each, status int }{
		"Enough": {80 << 10, 200}, "Dribble": {1, 400}, "Little": {30 << 10, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				here, there := net.Pipe()
				api := serve(func(r *rest.Routes) { rest.Post(r, "/files", saved, rest.MaxBody(100<<20)) },
					rest.BoundBodies(rest.BodyBounds{Timeout: 10 * time.Second}))
				closed := make(chan struct{})
				s := &http.Server{Handler: api, ReadHeaderTimeout: time.Second, ConnState: func(_ net.Conn, state http.ConnState) {
					if state == http.StateClosed {
						close(closed)
					}
				}}
				listener := &oneConn{conns: make(chan net.Conn, 1)}
				listener.conns <- there
				defer s.Close()
				go func() { _ = s.Serve(listener) }()
				r := httptest.NewRequest(http.MethodPost, "http://a/files", &slowly{c.each, 60 * c.each})
				r.ContentLength = int64(60 * c.each)
				sent := make(chan struct{})
				go func() {
					defer close(sent)
					_ = r.Write(here) // the server may have gone
				}()
				text, _ := io.ReadAll(io.LimitReader(here, 16))
				_ = here.Close()
				<-sent
				<-closed
				if want := fmt.Sprintf("HTTP/1.1 %d ", c.status); !strings.HasPrefix(string(text), want) {
					t.Errorf("got %q, want %s", text, want)
				}
			})
		})
	}
}

// oneConn is a listener of a single connection.
type oneConn struct{ conns chan net.Conn }

func (l *oneConn) Accept() (net.Conn, error) {
	if conn, ok := <-l.conns; ok {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (l *oneConn) Close() error {
	close(l.conns)
	return nil
}

func (*oneConn) Addr() net.Addr { return &net.TCPAddr{} }
