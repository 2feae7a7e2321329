package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/oauth"
)

// issuer answers requests without a network, so that its time is that of a test.
type issuer struct {
	mu     sync.Mutex
	tokens int
	delay  time.Duration
	answer string // of the token endpoint, with a verb for the number of the token
	status int
	err    error
}

// RoundTrip implements [http.RoundTripper].
func (i *issuer) RoundTrip(r *http.Request) (*http.Response, error) {
	body, status := `{"issuer":"https://a.example/","token_endpoint":"https://a.example/token"}`, http.StatusOK
	switch {
	case r.URL.Host == "shop.example":
		status = http.StatusNotFound
	case r.URL.Path == "/token":
		i.mu.Lock()
		defer i.mu.Unlock()
		i.tokens++
		body, status = fmt.Sprintf(i.answer, i.tokens), i.status
		if i.err != nil {
			return nil, i.err
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(i.delay):
		}
	}
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

func (i *issuer) client() *oauth.Client {
	i.status = http.StatusOK
	return oauth.New(oauth.Config{
		HTTP: &http.Client{Transport: i}, Server: "https://shop.example/mcp", Issuer: "https://a.example", ClientID: "i",
		ClientSecret: "hunter2", Timeout: time.Minute,
	})
}

func check(t *testing.T, c *oauth.Client, want string) {
	t.Helper()
	if got, err := c.Token(t.Context()); got != want || err != nil {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
}

// A token is used until shortly before its end.
func TestEnd(t *testing.T) {
	t.Parallel()

	for lifetime, used := range map[int]time.Duration{
		3600: 3570 * time.Second, 100: 90 * time.Second, 1: 900 * time.Millisecond,
	} {
		synctest.Test(t, func(t *testing.T) {
			i := &issuer{answer: `{"access_token":"t%d","token_type":"Bearer","expires_in":` + strconv.Itoa(lifetime) + `}`}
			c := i.client()
			check(t, c, "t1")
			<-time.After(used - time.Millisecond)
			check(t, c, "t1")
			<-time.After(time.Millisecond)
			check(t, c, "t2")
		})
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()

	i := &issuer{answer: `{"access_token":"t%d","token_type":"Bearer"}`}
	c := i.client()
	check(t, c, "t1")
	c.Refused("t1")
	check(t, c, "t2")
	c.Refused("t1") // by a request that was under way
	check(t, c, "t2")
	for range 20 {
		token, _ := c.Token(t.Context())
		c.Refused(token)
	}
	if seen := c.Seen(); len(seen) != 8 || seen[0] != "t21" {
		t.Errorf("seen %v", seen)
	}
}

// Callers share a request, and one that goes away does not spoil it for the others.
func TestTogether(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		i := &issuer{answer: `{"access_token":"t%d","token_type":"Bearer"}`, delay: 10 * time.Second}
		c := i.client()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		go func() {
			if _, err := c.Token(ctx); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("got %v", err)
			}
		}()
		synctest.Wait()
		var all sync.WaitGroup
		for range 5 {
			all.Go(func() { check(t, c, "t2") })
		}
		all.Wait()
	})
}

// A failure is shared too, and stands for a second.
func TestFailure(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		i := &issuer{answer: `{"error":"invalid_client","n":%d}`, delay: 10 * time.Second}
		c := i.client()
		i.status = http.StatusUnauthorized
		ask := func() {
			if _, err := c.Token(t.Context()); spool.CodeOf(err) != spool.Unauthorized ||
				strings.Contains(err.Error(), "hunter2") {
				t.Errorf("got %v", err)
			}
		}
		var all sync.WaitGroup
		for range 5 {
			all.Go(ask)
		}
		all.Wait()
		ask()
		if i.tokens != 1 {
			t.Errorf("%d requests", i.tokens)
		}
		<-time.After(2 * time.Second)
		ask()
		if i.tokens != 2 {
			t.Errorf("%d requests", i.tokens)
		}
	})
}

func TestBadAnswers(t *testing.T) {
	t.Parallel()

	for answer, code := range map[string]spool.Code{
		`{"access_token":"secret%d","token_type":"mac"}`:            spool.Unauthorized,
		`{"access_token":"secret%d\r\nX: y","token_type":"Bearer"}`: spool.Unauthorized,
		`{"access_token":"","n":%d,"token_type":"Bearer"}`:          spool.Unavailable,
		`secret%d`: spool.Unavailable,
		`{"error":"secret","error_description":"secret%d"}`: spool.Unauthorized,
	} {
		i := &issuer{answer: answer}
		_, err := i.client().Token(t.Context())
		if spool.CodeOf(err) != code || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %s %v", answer, spool.CodeOf(err), err)
		}
	}
	i := &issuer{err: errors.New("no route")}
	if _, err := i.client().Token(t.Context()); spool.CodeOf(err) != spool.Unavailable {
		t.Errorf("got %v", err)
	}
}
