package attach

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine/option"
)

// imageHost is a host with images of every kind.
func imageHost(t *testing.T) (url string) {
	t.Helper()

	over := make(chan struct{})
	mux := http.NewServeMux()
	serve := func(path string, data []byte) {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			if r.Referer() != "" || r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
				t.Errorf("the request for %s carries %v", path, r.Header)
			}
			w.Header().Set("Content-Type", "image/png") // the header is wrong for some images
			_, _ = w.Write(data)
		})
	}
	serve("/a.png", picture(t, "png"))
	serve("/a.gif", picture(t, "gif"))
	serve("/page", []byte("<html>"))
	serve("/bomb", bomb(30_000, 30_000))
	serve("/large", append(picture(t, "png"), make([]byte, 2000)...))
	mux.HandleFunc("/to", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("url"), http.StatusFound)
	})
	mux.HandleFunc("/round", func(w http.ResponseWriter, r *http.Request) {
		left := strings.TrimPrefix(r.FormValue("left"), "x")
		if left == "" {
			http.Redirect(w, r, "/a.png", http.StatusFound)
			return
		}
		http.Redirect(w, r, "/round?left="+left, http.StatusFound)
	})
	mux.HandleFunc("/busy", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
	mux.HandleFunc("/slow", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write(picture(t, "png")[:10])
		_ = http.NewResponseController(w).Flush()
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	server := httptest.NewServer(mux)
	t.Cleanup(func() {
		close(over)
		server.Close()
	})
	return server.URL
}

// resolving makes a fetcher resolve every name to one address.
func resolving(a *Files, to [4]byte) {
	transport, _ := a.client.Transport.(*egress.Transport)
	transport.Resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go answerDNS(server, to)
		return client, nil
	}}
}

// answerDNS answers one question over TCP with an IPv4 address.
func answerDNS(c net.Conn, to [4]byte) {
	defer c.Close()
	var length [2]byte
	if _, err := io.ReadFull(c, length[:]); err != nil {
		return
	}
	query := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(c, query); err != nil {
		return
	}
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5
	answer := append([]byte{}, query[:end]...)
	answer[2], answer[3] = 0x81, 0x80
	copy(answer[6:12], make([]byte, 6))
	if binary.BigEndian.Uint16(query[end-4:]) == 1 { // an address of IPv4
		answer[7] = 1
		answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, to[0], to[1], to[2], to[3])
	}
	_, _ = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...))
}

func TestFetch(t *testing.T) {
	t.Parallel()

	host := imageHost(t)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(host, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		url      string
		declared string
		at       *[4]byte // where names are. Nil: there are none
		want     string   // the type, or the beginning of the error
		code     spool.Code
	}{
		"png":        {url: host + "/a.png", declared: "image/png", want: "image/png"},
		"no type":    {url: host + "/a.gif", want: "image/gif"},
		"redirect":   {url: host + "/to?url=/a.png", want: "image/png"},
		"three hops": {url: host + "/round?left=xxx", want: "image/png"},
		"name":       {url: "http://images.example.com:" + port + "/a.png", at: &[4]byte{127, 0, 0, 1}, want: "image/png"},
		"four hops":  {url: host + "/round?left=xxxx", want: "leads on more than 3 times", code: spool.Invalid},
		"to loopback": {
			url: host + "/to?url=http://[::1]:" + port + "/a.png", want: "is at an address that is not allowed",
			code: spool.Invalid,
		},
		"to localhost": {
			url: host + "/to?url=http://localhost:" + port + "/a.png", want: "is at an address that is not allowed",
			code: spool.Invalid,
		},
		"to metadata": {
			url: host + "/to?url=http://169.254.169.254/", want: "is at an address that is not allowed", code: spool.Invalid,
		},
		"to a file": {url: host + "/to?url=file:///etc/passwd", want: "leads on to another scheme", code: spool.Invalid},
		"to a user": {
			url: host + "/to?url=http://user:p4ss@127.0.0.1:" + port + "/a.png", want: "leads on to a URL with credentials",
			code: spool.Invalid,
		},
		"private name": {
			url: "http://images.example.com/a.png", at: &[4]byte{10, 0, 0, 1}, want: "is at an address that is not allowed",
			code: spool.Invalid,
		},
		"metadata name": {
			url: "http://images.example.com/a.png", at: &[4]byte{169, 254, 169, 254},
			want: "is at an address that is not allowed", code: spool.Invalid,
		},
		"page": {url: host + "/page", want: "is not accepted: its url holds no file", code: spool.Invalid},
		"other type": {
			url: host + "/a.gif", declared: "image/png",
			want: "is not accepted: its url holds image/gif, and is said to be image/png", code: spool.Invalid,
		},
		"bomb":      {url: host + "/bomb", want: "is not accepted: its url holds an image of more than", code: spool.Invalid},
		"too large": {url: host + "/large", want: "is not accepted: its url holds more than 2000 bytes", code: spool.Invalid},
		"not there": {url: host + "/none?secret=p4ss", want: "answers with 404", code: spool.Invalid},
		"busy":      {url: host + "/busy", want: "answers with 503", code: spool.Unavailable},
		"slow":      {url: host + "/slow", want: "does not come within 200ms", code: spool.Unavailable},
		"nobody":    {url: "http://127.0.0.1:1/a.png", want: "cannot be fetched", code: spool.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			o := option.Attachments{
				Fetch: true, MaxBytes: 2000, FetchTimeout: 10 * time.Second, Egress: egress.Policy{Allow: []string{"127.0.0.1"}},
			}
			if name == "slow" {
				o.FetchTimeout = 200 * time.Millisecond
			}
			a := testAttachments(t, o)
			if c.at != nil {
				resolving(a, *c.at)
			}
			data, media, err := a.fetch(t.Context(), c.url, c.declared)
			switch {
			case c.code == "":
				if err != nil || media != c.want || len(data) == 0 {
					t.Errorf("got %d bytes of %q, error %v", len(data), media, err)
				}
			case spool.CodeOf(err) != c.code, !strings.Contains(spool.MessageOf(err), c.want),
				strings.Contains(spool.MessageOf(err), "p4ss"),
				!strings.HasPrefix(spool.MessageOf(err), "the image of "):
				t.Errorf("got %v of code %s", err, spool.CodeOf(err))
			}
		})
	}
}

// A run that is stopped does not wait for a host that hangs.
func TestFetchEnds(t *testing.T) {
	t.Parallel()

	a := testAttachments(t, option.Attachments{
		Fetch: true, Egress: egress.Policy{Allow: []string{"127.0.0.1"}}, FetchTimeout: time.Hour,
	})
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, _, err := a.fetch(ctx, imageHost(t)+"/slow", ""); err == nil || ctx.Err() == nil {
		t.Errorf("got %v", err)
	}
}

// An unavailable image of an earlier turn becomes a text. One of the turn that the run answers is an error, also if
// the turn is that of the run that a redriven run goes on with.
func TestUnavailable(t *testing.T) {
	t.Parallel()

	a := testAttachments(t, option.Attachments{
		Fetch: true, Egress: egress.Policy{Allow: []string{"127.0.0.1"}}, FetchTimeout: time.Hour,
	})
	asked := spool.ModelRequest{Messages: []spool.Message{{
		Role: spool.RoleUser, RunID: "r1", Content: spool.Content{{Type: spool.PartImage, Image: imageHost(t) + "/busy"}},
	}}}
	for _, p := range []Prompt{{Run: "r1", Answers: "r1"}, {Run: "r2", Answers: "r1"}} {
		if _, err := a.Inline(t.Context(), asked, p, make(Fetched)); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("%+v: got %v", p, err)
		}
	}
	got, err := a.Inline(t.Context(), asked, Prompt{Run: "r2", Answers: "r2"}, make(Fetched))
	if err != nil || got.Messages[0].Text() != imageGone {
		t.Errorf("an earlier turn: got %+v, %v", got.Messages, err)
	}
}
