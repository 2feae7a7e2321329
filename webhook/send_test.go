package webhook_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/webhook"
	"github.com/spoolhq/spool/wire"
)

const (
	secret      = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	otherSecret = "whsec_YW5vdGhlciBzZWNyZXQgb2YgbW9yZSB0aGFuIDI0IGJ5dGVz"
)

// clock stands still.
type clock struct{}

var now = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func (clock) Now() time.Time { return now }

// setup returns a sender whose configuration lists this machine, and what it posts there.
func setup(t *testing.T, handle http.HandlerFunc) (*webhook.Sender, webhook.Post) {
	t.Helper()

	server := httptest.NewServer(handle)
	t.Cleanup(server.Close)
	sender := newSender(t, webhook.Config{Listed: []string{"127.0.0.1"}, Clock: clock{}})
	return sender, event(t, server.URL+"/in?key=hidden")
}

func event(t *testing.T, url string) webhook.Post {
	t.Helper()

	signer, err := signing.NewSigner([]string{secret})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := (webhook.Body{ContentType: "application/json", Bytes: []byte(`{"a":1}`)}).WithLink("")
	if err != nil {
		t.Fatal(err)
	}
	return webhook.Post{ID: "msg_1", URL: url, Listed: true, Signer: signer, Body: sent}
}

// expect compares an outcome, and looks for what no error may tell.
func expect(t *testing.T, got webhook.Outcome, class webhook.Class, status int, message string) {
	t.Helper()

	text := ""
	if got.Err != nil {
		text = spool.MessageOf(got.Err)
	}
	if got.Class != class || got.Status != status || text != message {
		t.Errorf("%s, %d, %q; want %s, %d, %q", got.Class, got.Status, text, class, status, message)
	}
	for _, hidden := range []string{"hidden", secret[6:]} {
		if strings.Contains(fmt.Sprint(got.Err, got.Answer), hidden) {
			t.Errorf("the outcome tells %q: %v, %q", hidden, got.Err, got.Answer)
		}
	}
}

// What arrives is what was rendered, signed with each secret at the time of the attempt.
func TestSend(t *testing.T) {
	t.Parallel()

	got := make(chan error, 2)
	sender, post := setup(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		for _, s := range []string{secret, otherSecret} {
			verifier, failed := signing.New(signing.Config{Secrets: []string{s}, Clock: clock{}})
			if failed == nil {
				failed = verifier.Verify(r, body)
			}
			err = errors.Join(err, failed)
		}
		h := r.Header
		if r.Method != http.MethodPost || r.URL.String() != "/in?key=hidden" || string(body) != `{"a":1}` ||
			h.Get("Webhook-Id") != "msg_1" || h.Get("Webhook-Timestamp") != strconv.FormatInt(now.Unix(), 10) ||
			h.Get("Content-Type") != "application/json" || h.Get("User-Agent") != "spool" || r.ContentLength != 7 {
			t.Errorf("%s %s with %v: %s", r.Method, r.URL, h, body)
		}
		got <- err
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, " thank\r\n\x1b[31myou\u202e \xff")
	})
	var err error
	if post.Signer, err = signing.NewSigner([]string{otherSecret, secret}); err != nil {
		t.Fatal(err)
	}
	outcome := sender.Send(t.Context(), post)
	expect(t, outcome, webhook.Delivered, http.StatusAccepted, "")
	if outcome.Answer != "thank  [31myou" {
		t.Errorf("the answer is %q", outcome.Answer)
	}
	if err := <-got; err != nil {
		t.Error(err)
	}
}

// Each answer has one meaning.
func TestSendAnswers(t *testing.T) {
	t.Parallel()

	const unavailable = "the endpoint answered 503 Service Unavailable"
	for name, c := range map[string]struct {
		status     int
		retryAfter string
		class      webhook.Class
		wait       time.Duration
		message    string
	}{
		"OK":               {200, "", webhook.Delivered, 0, ""},
		"NoContent":        {204, "", webhook.Delivered, 0, ""},
		"Strange2xx":       {299, "5", webhook.Delivered, 0, ""},
		"Gone":             {410, "5", webhook.Gone, 0, "the endpoint answered 410 Gone"},
		"Seconds":          {429, "90", webhook.Later, 90 * time.Second, "the endpoint answered 429 Too Many Requests"},
		"Date":             {503, "Mon, 30 Nov 2026 12:10:00 GMT", webhook.Later, 10 * time.Minute, unavailable},
		"DatePast":         {503, "Mon, 30 Nov 2026 11:10:00 GMT", webhook.Later, time.Second, unavailable},
		"TooLong":          {502, "604800", webhook.Later, 24 * time.Hour, "the endpoint answered 502 Bad Gateway"},
		"GatewayTimeout":   {504, "0", webhook.Later, time.Second, "the endpoint answered 504 Gateway Timeout"},
		"NoTime":           {429, "", webhook.Failed, 0, "the endpoint answered 429 Too Many Requests"},
		"NoTimeToRead":     {503, "soon", webhook.Failed, 0, unavailable},
		"TimeOfOther":      {500, "5", webhook.Failed, 0, "the endpoint answered 500 Internal Server Error"},
		"BadRequest":       {400, "", webhook.Failed, 0, "the endpoint answered 400 Bad Request"},
		"NotModified":      {304, "", webhook.Failed, 0, "the endpoint answered 304 Not Modified"},
		"StatusOfNobody":   {799, "", webhook.Failed, 0, "the endpoint answered 799"},
		"RedirectNowhere":  {302, "", webhook.Failed, 0, "the endpoint answered 302 Found"},
		"RedirectForPosts": {308, "", webhook.Failed, 0, "the endpoint answered 308 Permanent Redirect"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sender, post := setup(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.retryAfter != "" {
					w.Header().Set("Retry-After", c.retryAfter)
				}
				w.WriteHeader(c.status)
			})
			outcome := sender.Send(t.Context(), post)
			expect(t, outcome, c.class, c.status, c.message)
			if outcome.RetryAfter != c.wait {
				t.Errorf("wait %s, want %s", outcome.RetryAfter, c.wait)
			}
		})
	}
}

// A redirect gets nothing, not even a look at where it leads.
func TestSendRedirect(t *testing.T) {
	t.Parallel()

	for _, location := range []string{"/other", "http://169.254.169.254/", "http://[hidden", "://hidden"} {
		var posts atomic.Int32
		sender, post := setup(t, func(w http.ResponseWriter, _ *http.Request) {
			posts.Add(1)
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusTemporaryRedirect)
		})
		expect(t, sender.Send(t.Context(), post), webhook.Failed, 307, "the endpoint answered 307 Temporary Redirect")
		if n := posts.Load(); n != 1 {
			t.Errorf("%s: %d requests", location, n)
		}
	}
}

// An answer is kept to its bound, without the URL, and not at all if the body had a link.
func TestSendAnswerKept(t *testing.T) {
	t.Parallel()

	const link = "https://agents.example/links/hidden-link"
	for name, c := range map[string]struct {
		answer string
		linked bool
		want   string
	}{
		"Empty":     {"", false, ""},
		"Short":     {"no such hook", false, "no such hook"},
		"Long":      {strings.Repeat("x", 1<<20), false, strings.Repeat("x", 512)},
		"Cut":       {strings.Repeat("é", 300) + "ab", false, strings.Repeat("é", 256)},
		"CutOdd":    {"a" + strings.Repeat("é", 300), false, "a" + strings.Repeat("é", 255)},
		"Path":      {"Cannot POST /in?key=hidden, no /in: key=hidden", false, "Cannot POST …, no …: …"},
		"Secret":    {"SECRET=whsec_bm9ib2R5IGtub3dzIHRoaXM= is set", false, "SECRET=… is set"},
		"Link":      {"got " + link, true, ""},
		"LongSpace": {strings.Repeat(" \n", 1000) + "x", false, "x"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			sender, post := setup(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || c.linked != strings.Contains(string(body), link) {
					t.Errorf("%s, %v", body, err)
				}
				w.WriteHeader(http.StatusNotFound)
				_, _ = io.WriteString(w, c.answer)
			})
			if c.linked {
				body := webhook.Body{ContentType: "text/plain", Bytes: []byte("see " + wire.WebhookLinkMark)}
				var err error
				if post.Body, err = body.WithLink(link); err != nil {
					t.Fatal(err)
				}
			}
			outcome := sender.Send(t.Context(), post)
			expect(t, outcome, webhook.Failed, 404, "the endpoint answered 404 Not Found")
			if outcome.Answer != c.want {
				t.Errorf("kept %d bytes: %q", len(outcome.Answer), outcome.Answer)
			}
		})
	}
}

// A URL that the bounds of the reading cut in two is not kept either.
func TestSendAnswerCutURL(t *testing.T) {
	t.Parallel()

	path := "/" + strings.Repeat("hidden", 300)
	sender, post := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat(path+" ", 3))
	})
	post.URL = strings.TrimSuffix(post.URL, "/in?key=hidden") + path
	outcome := sender.Send(t.Context(), post)
	expect(t, outcome, webhook.Delivered, 200, "")
}

// A connection that breaks is a failure, and one attempt is made.
func TestSendBroken(t *testing.T) {
	t.Parallel()

	var posts atomic.Int32
	sender, post := setup(t, func(http.ResponseWriter, *http.Request) {
		posts.Add(1)
		panic(http.ErrAbortHandler)
	})
	expect(t, sender.Send(t.Context(), post), webhook.Failed, 0, "the endpoint cannot be reached")
	if n := posts.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
	closed := httptest.NewServer(nil)
	closed.Close()
	post.URL = closed.URL + "/hidden"
	expect(t, sender.Send(t.Context(), post), webhook.Failed, 0, "the endpoint cannot be reached")
}

// An endpoint that hangs is left after the deadline: before the answer, and within it.
func TestSendDeadline(t *testing.T) {
	t.Parallel()

	for _, within := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			sender := newSender(t, webhook.Config{Listed: []string{"127.0.0.1"}})
			hang := pipeDialer(t, func(conn net.Conn) {
				if within {
					_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
				}
			})
			webhook.SetTransport(sender, &http.Transport{DialContext: hang})
			began := time.Now()
			outcome := sender.Send(t.Context(), event(t, "http://127.0.0.1:9/in?key=hidden"))
			if took := time.Since(began); took != webhook.Deadline {
				t.Errorf("the attempt took %s", took)
			}
			if within {
				expect(t, outcome, webhook.Delivered, 200, "") // its status says so
			} else {
				expect(t, outcome, webhook.Failed, 0, "the endpoint did not answer in time")
			}
		})
	}
}

// pipeDialer returns a dial function to a peer that reads a request, does something, and then waits for ever.
func pipeDialer(t *testing.T, peer func(conn net.Conn)) func(context.Context, string, string) (net.Conn, error) {
	t.Helper()

	return func(context.Context, string, string) (net.Conn, error) {
		ours, theirs := net.Pipe()
		go func() {
			defer theirs.Close()
			b := make([]byte, 64<<10)
			if _, err := theirs.Read(b); err != nil {
				return
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				_, _ = io.Copy(io.Discard, theirs) // the rest of the request, until the sender gives up
			}()
			peer(theirs)
			<-done
		}()
		return ours, nil
	}
}

// An attempt that the process cuts off says nothing of the endpoint.
func TestSendEnded(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	sender, post := setup(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only behind it, the server looks whether the client is gone
		cancel()
		<-r.Context().Done()
	})
	outcome := sender.Send(ctx, post)
	expect(t, outcome, webhook.Ended, 0, "the attempt was cut off")
	if spool.CodeOf(outcome.Err) != spool.Canceled {
		t.Errorf("%v", outcome.Err)
	}
}

// Only an endpoint of the configuration reaches what it lists.
func TestSendForbidden(t *testing.T) {
	t.Parallel()

	var posts atomic.Int32
	sender, post := setup(t, func(http.ResponseWriter, *http.Request) { posts.Add(1) })
	post.Listed = false
	outcome := sender.Send(t.Context(), post)
	if outcome.Class != webhook.Failed || spool.CodeOf(outcome.Err) != spool.Invalid || posts.Load() != 0 {
		t.Errorf("%s: %v, %d posts", outcome.Class, outcome.Err, posts.Load())
	}
	post.Listed = true
	expect(t, sender.Send(t.Context(), post), webhook.Delivered, 200, "")
}

// A post without what it needs is refused, and tells nothing of it.
func TestSendInvalid(t *testing.T) {
	t.Parallel()

	sender, post := setup(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	for _, change := range []func(*webhook.Post){
		func(p *webhook.Post) { p.URL = "http://127.0.0.1/\x00hidden" },
		func(p *webhook.Post) { p.URL = "ftp://127.0.0.1/hidden" },
		func(p *webhook.Post) { p.ID = "a.b" },
	} {
		p := post
		change(&p)
		outcome := sender.Send(t.Context(), p)
		if outcome.Class != webhook.Failed || spool.CodeOf(outcome.Err) != spool.Invalid ||
			strings.Contains(outcome.Err.Error(), "hidden") {
			t.Errorf("%s: %v", outcome.Class, outcome.Err)
		}
	}
}
