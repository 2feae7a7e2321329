package post_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/post"
)

func TestUnreached(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"Refused": {errors.New("connection refused"), "the peer cannot be reached"},
		"Late":    {context.DeadlineExceeded, "the peer did not answer in time"},
		"Ended":   {context.Canceled, "the peer cannot be reached"},
	} {
		for _, err := range []error{c.err, &url.Error{Op: "Post", URL: "http://hidden/", Err: c.err}} {
			got := post.Unreached("the peer", err)
			if spool.CodeOf(got) != spool.Unavailable || spool.MessageOf(got) != c.want || !errors.Is(got, c.err) ||
				strings.Contains(got.Error(), "hidden") {
				t.Errorf("%s: %v", name, got)
			}
		}
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()

	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"0": time.Second, "1": time.Second, " 90 ": 90 * time.Second, "2147483647": time.Hour,
		"Mon, 30 Nov 2026 12:10:00 GMT": 10 * time.Minute, "Mon, 30 Nov 2020 12:10:00 GMT": time.Second,
		"Mon, 30 Nov 2099 12:10:00 GMT": time.Hour,
		"":                              -1, "-1": -1, "1.5": -1, "soon": -1, "99999999999": -1, "+5": -1,
	} {
		got, ok := post.RetryAfter(http.Header{"Retry-After": {value}}, now, time.Second, time.Hour)
		if ok != (want > 0) || ok && got != want {
			t.Errorf("%q: %s, %t, want %s", value, got, ok, want)
		}
	}
	if _, ok := post.RetryAfter(nil, now, time.Second, time.Hour); ok {
		t.Error("no header asks to wait")
	}
}

func TestStatusText(t *testing.T) {
	t.Parallel()

	for status, want := range map[int]string{429: "429 Too Many Requests", 599: "599"} {
		if got := post.StatusText(status); got != want {
			t.Errorf("StatusText(%d) = %q", status, got)
		}
	}
}
