package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// read follows a thread until its end, or until so many frames have come, and returns them as lines.
func read(t *testing.T, c *client.Client, frames int, o client.FollowOptions) (lines []string, err error) {
	t.Helper()

	for f, err := range c.Follow(t.Context(), "t1", o) {
		if err != nil {
			return lines, err
		}
		switch {
		case f.Event == nil:
			lines = append(lines, string(f.Kind))
		case f.Event.Seq == 0:
			lines = append(lines, fmt.Sprintf("%s %s", f.Event.Type, f.Event.Payload))
		default:
			lines = append(lines, strconv.FormatInt(f.Event.Seq, 10))
		}
		if len(lines) == frames {
			break
		}
	}
	return lines, nil
}

// within reports whether a wait is what was asked, or up to a half longer.
func within(t *testing.T, what string, got, asked time.Duration) {
	t.Helper()

	if got < asked || got > asked*3/2 {
		t.Errorf("%s: waited %s, want %s to %s", what, got, asked, asked*3/2)
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestFollowResumes(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(n int, _ *http.Request) *answer {
			switch n {
			case 1:
				return ends("retry: 4000\n\n" + entry(1) + entry(2) + "id: 3 - -\ndata: {\"kind\":")
			case 2:
				return nil
			case 3:
				return fails(http.StatusServiceUnavailable, spool.Unavailable, "Retry-After", "90")
			case 4:
				return ends(entry(3) + "retry: 7000\n\n") // a server that drains
			default:
				return ends(entry(4))
			}
		}}
		var reasons []string
		lines, err := read(t, s.client(t), 4, client.FollowOptions{OnRetry: func(err error, _ time.Duration) {
			reasons = append(reasons, spool.MessageOf(err))
		}})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, lines, "1", "2", "3", "4")
		wantLines(t, s.ids, "", "2 - -", "2 - -", "2 - -", "3 - -")
		wantLines(t, reasons, "the connection was lost", "the server cannot be reached", "it is unavailable",
			"the server has ended the stream")
		waits := s.waits()
		within(t, "after a cut", waits[0], 4*time.Second)
		within(t, "after a refused connection", waits[1], 4*time.Second)
		within(t, "after a 503", waits[2], 90*time.Second)
		within(t, "after a drain", waits[3], 7*time.Second)
	})
}

func TestFollowBacksOff(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(n int, _ *http.Request) *answer {
			switch {
			case n < 8:
				return nil
			case n == 8:
				return ends(entry(1))
			default:
				return ends(entry(2))
			}
		}}
		c := s.client(t, func(o *client.Options) { o.Backoff = client.Backoff{Min: time.Second, Max: 10 * time.Second} })
		if _, err := read(t, c, 2, client.FollowOptions{}); err != nil {
			t.Fatal(err)
		}
		for i, want := range []int{1, 2, 4, 8, 10, 10, 10, 1} {
			within(t, fmt.Sprintf("wait %d", i), s.waits()[i], time.Duration(want)*time.Second)
		}
	})
}

func TestFollowIdle(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(n int, r *http.Request) *answer {
			switch n {
			case 1:
				return stalls(r, entry(1))
			case 2: // no header comes
				<-r.Context().Done()
				return nil
			default:
				return ends(entry(2))
			}
		}}
		var reasons []string
		_, err := read(t, s.client(t), 2, client.FollowOptions{
			OnRetry: func(err error, _ time.Duration) { reasons = append(reasons, spool.MessageOf(err)) },
		})
		if err != nil {
			t.Fatal(err)
		}
		wantLines(t, reasons, "the stream has stalled", "the stream has stalled")
		for i, got := range s.waits() {
			if want := 45 * time.Second; got < want+500*time.Millisecond || got > want+2*time.Second {
				t.Errorf("connection %d after %s", i+2, got)
			}
		}
	})
}

// TestFollowKeepalive reads comments for an hour, with a caller that then takes an hour for one frame.
func TestFollowKeepalive(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(n int, r *http.Request) *answer {
			if n == 1 {
				return ticks(r, 15*time.Second)
			}
			res := ends("")
			res.Body = io.NopCloser(&pieces{r.Context(), []string{entry(1), entry(2), entry(3)}})
			return res
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		for _, err := range s.client(t).Follow(ctx, "t1", client.FollowOptions{GiveUpAfter: time.Minute}) {
			if !errors.Is(err, context.DeadlineExceeded) || spool.CodeOf(err) != spool.Canceled {
				t.Errorf("error %v", err)
			}
		}
		if len(s.asked) != 1 {
			t.Errorf("%d connections", len(s.asked))
		}
		n := 0
		for _, err := range s.client(t).Follow(t.Context(), "t1", client.FollowOptions{}) {
			if err != nil {
				t.Fatal(err)
			}
			if n++; n == 3 {
				break
			}
			time.Sleep(time.Hour) //nolint:forbidigo // the slow caller of a bubble
		}
		if len(s.asked) != 2 {
			t.Errorf("%d connections", len(s.asked))
		}
	})
}

func TestFollowGivesUp(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		s := &script{answer: func(int, *http.Request) *answer { return nil }}
		began := time.Now()
		_, err := read(t, s.client(t), 1, client.FollowOptions{GiveUpAfter: time.Minute})
		wantError(t, err, spool.Unavailable, 0)
		if took := time.Since(began); took > time.Minute || took < 15*time.Second {
			t.Errorf("gave up after %s", took)
		}
	})
}

// TestFollowGivesUpLater counts from the last sign of life, and not from the last frame.
func TestFollowGivesUpLater(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		s := &script{answer: func(n int, r *http.Request) *answer {
			if n > 1 {
				return nil
			}
			return ticks(r.WithContext(ctx), 15*time.Second)
		}}
		began := time.Now()
		_, err := read(t, s.client(t), 1, client.FollowOptions{GiveUpAfter: time.Minute})
		wantError(t, err, spool.Unavailable, 0)
		if took := time.Since(began); took > 11*time.Minute || len(s.asked) < 4 {
			t.Errorf("gave up after %s and %d connections", took, len(s.asked))
		}
	})
}

// TestFollowEnds has the answers after which no further connection can help.
func TestFollowEnds(t *testing.T) {
	t.Parallel()

	page := func(int, *http.Request) *answer { return says(http.StatusNotFound, "text/html", "<html>") }
	for name, c := range map[string]struct {
		answer func(n int, r *http.Request) *answer
		code   spool.Code
		status int
		after  int // connections
	}{
		"no thread":   {func(int, *http.Request) *answer { return fails(404, spool.NotFound) }, spool.NotFound, 404, 1},
		"forbidden":   {func(int, *http.Request) *answer { return fails(403, spool.Forbidden) }, spool.Forbidden, 403, 1},
		"bad request": {func(int, *http.Request) *answer { return fails(400, spool.Invalid) }, spool.Invalid, 400, 1},
		"no token": {
			func(int, *http.Request) *answer { return fails(401, spool.Unauthorized) }, spool.Unauthorized, 401, 1,
		},
		"a page":    {page, spool.NotFound, 404, 1},
		"no stream": {func(int, *http.Request) *answer { return says(200, "text/html", "<html>") }, spool.Invalid, 200, 1},
		"garbage": {func(n int, _ *http.Request) *answer {
			if n == 1 {
				return ends(entry(1) + "id: 2 - -\ndata: {\"ki\n\n")
			}
			return ends("id: 2 - -\ndata: {\"ki\n\n")
		}, spool.Internal, 0, 2},
		"too large": {
			func(int, *http.Request) *answer { return ends("data: " + strings.Repeat("x", 2000)) }, spool.Invalid, 0, 1,
		},
		"forbidden, later":  {sequence(ends(entry(1)), fails(403, spool.Forbidden)), spool.Forbidden, 403, 2},
		"deleted meanwhile": {sequence(ends(entry(1)), nil, fails(404, spool.NotFound)), spool.NotFound, 404, 3},
		"deleted":           {sequence(ends(notice(wire.NoticeThreadDeleted, `{"threadId":"t1"}`))), spool.NotFound, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				s := &script{answer: c.answer}
				_, err := read(t, s.client(t, func(o *client.Options) { o.MaxEventBytes = 1000 }), -1, client.FollowOptions{})
				wantError(t, err, c.code, c.status)
				if len(s.asked) != c.after {
					t.Errorf("%d connections, want %d", len(s.asked), c.after)
				}
			})
		})
	}
}

// sequence answers with one after the other.
func sequence(answers ...*answer) func(int, *http.Request) *answer {
	return func(n int, _ *http.Request) *answer { return answers[n-1] }
}

// TestFollowGoesOn has the answers that pass.
func TestFollowGoesOn(t *testing.T) {
	t.Parallel()

	for name, res := range map[string]func() *answer{
		"a proxy's 404":     func() *answer { return says(404, "text/html", "<html>") },
		"a proxy's page":    func() *answer { return says(200, "text/html", "<html>") },
		"a proxy's 502":     func() *answer { return says(502, "text/html", "<html>") },
		"a defect":          func() *answer { return fails(500, spool.Internal) },
		"too many streams":  func() *answer { return fails(429, spool.Limit, "Retry-After", "2") },
		"a damaged event":   func() *answer { return ends("id: 2 - -\ndata: {\"ki\n\n") },
		"an empty stream":   func() *answer { return ends("") },
		"an unknown kind":   func() *answer { return ends("data: {\"kind\":\"new\"}\n\n") },
		"a keepalive event": func() *answer { return ends("event: keepalive\ndata: {}\n\n") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				s := &script{answer: sequence(ends(entry(1)), res(), ends(entry(2)))}
				lines, err := read(t, s.client(t), 2, client.FollowOptions{})
				if err != nil {
					t.Fatal(err)
				}
				wantLines(t, lines, "1", "2")
			})
		})
	}
}

func TestFollowTokens(t *testing.T) {
	t.Parallel()

	good := func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer good" }
	answer := func(n int, r *http.Request) *answer {
		if !good(r) {
			return fails(401, spool.Unauthorized)
		}
		return ends(entry(n))
	}
	for name, c := range map[string]struct {
		tokens []string // one after the other, the last for ever; "-" is an error
		code   spool.Code
		asked  int
	}{
		"good":               {[]string{"good"}, "", 1},
		"expired":            {[]string{"old", "good"}, "", 2},
		"expired and cached": {[]string{"old", "old", "good"}, "", 2},
		"wrong":              {[]string{"old"}, spool.Unauthorized, 2},
		"all wrong":          {[]string{"old", "older", "oldest", "gone"}, spool.Unauthorized, 4},
		"no token at first":  {[]string{"-", "-", "good"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				s := &script{answer: answer}
				n := 0
				_, err := read(t, s.client(t, func(o *client.Options) {
					o.Token = func(context.Context) (string, error) {
						n++
						token := c.tokens[min(n, len(c.tokens))-1]
						if token == "-" {
							return "", errors.New("the issuer is away")
						}
						return token, nil
					}
				}), 1, client.FollowOptions{})
				if spool.CodeOf(err) != c.code || len(s.asked) != c.asked {
					t.Errorf("%v after %d requests, want %q after %d", err, len(s.asked), c.code, c.asked)
				}
			})
		})
	}
	t.Run("nobody", func(t *testing.T) {
		t.Parallel()

		s := &script{answer: answer}
		_, err := read(t, s.client(t, func(o *client.Options) {
			o.Token = func(context.Context) (string, error) { return "", spool.Errorf(spool.Unauthorized, "signed out") }
		}), 1, client.FollowOptions{})
		if spool.CodeOf(err) != spool.Unauthorized || len(s.asked) != 0 {
			t.Errorf("%v after %d requests", err, len(s.asked))
		}
	})
}

// TestFollowNotices has the notices that a server sends again after a reconnect.
func TestFollowNotices(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		running, done := notice(wire.NoticeStateChange, `{"state":"RUNNING"}`),
			notice(wire.NoticeStateChange, `{"state":"COMPLETED"}`)
		turn := func(id string) string { return notice(wire.NoticeMessageAppended, `{"id":"`+id+`"}`) }
		s := &script{answer: sequence(
			ends(running+turn("m1")),
			ends(running+turn("m1")+entry(1)+turn("m2")+running),
			ends(done+turn("m2")+turn("m3")+entry(2)),
			ends(done+turn("m4")+running+done+entry(3)+turn("m4")),
		)}
		lines, err := read(t, s.client(t), 13, client.FollowOptions{})
		if err != nil {
			t.Fatal(err)
		}
		state := func(s string) string { return `STATE_CHANGE {"state":"` + s + `"}` }
		message := func(id string) string { return `MESSAGE_APPENDED {"id":"` + id + `"}` }
		wantLines(t, lines, state("RUNNING"), message("m1"), "1", message("m2"), state("RUNNING"),
			state("COMPLETED"), message("m3"), "2", message("m4"), state("RUNNING"), state("COMPLETED"), "3",
			message("m4")) // at another place it is another one
	})
}

func TestFollowRequest(t *testing.T) {
	t.Parallel()

	var got *http.Request
	s := &script{answer: func(_ int, r *http.Request) *answer {
		got = r
		return ends(entry(5))
	}}
	c := s.client(t, func(o *client.Options) { o.Header = http.Header{"X-Team": {"red"}} })
	cursor := wire.Cursor{Seq: 4, Stream: "r1:2", Offset: wire.Offset{Fence: 7, N: 12}}
	if _, err := read(t, c, 1, client.FollowOptions{Cursor: &cursor, LastMessageID: "m1"}); err != nil {
		t.Fatal(err)
	}
	if url := got.URL.String(); url != "http://spool.test/base/api/agent/stream?lastMessageId=m1&threadId=t1" {
		t.Errorf("URL %s", url)
	}
	for name, want := range map[string]string{
		"Accept": "text/event-stream", "Accept-Encoding": "identity", "Last-Event-ID": "4 r1:2 7-12", "X-Team": "red",
		"Authorization": "",
	} {
		if got.Header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want)
		}
	}
}

// TestFollowCloses checks that a caller that leaves the loop leaves no connection behind.
func TestFollowCloses(t *testing.T) {
	t.Parallel()

	closed := make(chan struct{})
	s := &script{answer: func(int, *http.Request) *answer {
		res := ends("")
		res.Body = &body{strings.NewReader(entry(1) + entry(2)), closed}
		return res
	}}
	if lines, err := read(t, s.client(t), 1, client.FollowOptions{}); err != nil || !slices.Equal(lines, []string{"1"}) {
		t.Errorf("%v, %v", lines, err)
	}
	select {
	case <-closed:
	default:
		t.Error("the body is open")
	}
}

type body struct {
	io.Reader

	closed chan struct{}
}

// Close implements [io.Closer].
func (b *body) Close() error {
	close(b.closed)
	return nil
}
