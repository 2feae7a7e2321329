package chat

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
)

// transport is a function that sends requests.
type transport func(*http.Request) (*http.Response, error)

func (t transport) RoundTrip(q *http.Request) (*http.Response, error) { return t(q) }

var errRefused = errors.New("connection refused")

// The person knows at once that the server is away, and not only when all attempts have failed.
func TestOnceUnreachable(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		var out, aside bytes.Buffer
		p := &Printer{Out: &out, Aside: &aside}
		r := &Reach{
			URL:  "http://agents.example",
			Base: transport(func(*http.Request) (*http.Response, error) { return nil, errRefused }),
		}
		r.Notify(func(text string) {
			at = append(at, time.Since(began))
			p.State(text)
		})
		c, err := client.New(r.URL, client.Options{HTTPClient: &http.Client{Transport: r}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = (Once{Client: c, Reach: r, Print: p}).Run(t.Context(), "Hello"); spool.CodeOf(err) != spool.Unavailable {
			t.Errorf("the error is %v", err)
		}
		if !slices.Equal(at, []time.Duration{0}) || time.Since(began) == 0 {
			t.Errorf("it was told after %v, of %v", at, time.Since(began))
		}
		if want := "… cannot reach http://agents.example, trying again\n"; aside.String() != want || out.Len() > 0 {
			t.Errorf("stderr has %q and stdout %q", aside.String(), out.String())
		}
	})
}

// Each change is told once. An answer of a proxy whose server is away is none of the server.
func TestReach(t *testing.T) {
	t.Parallel()

	var told []string
	status := 0
	r := &Reach{URL: "http://a.example", Base: transport(func(q *http.Request) (*http.Response, error) {
		if status == 0 {
			return nil, errRefused
		}
		return &http.Response{StatusCode: status, Body: io.NopCloser(strings.NewReader("")), Request: q}, nil
	})}
	r.Notify(func(text string) { told = append(told, text) })
	send := func(next int) {
		status = next
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := r.RoundTrip(q); err == nil {
			_ = res.Body.Close()
		}
	}
	for _, next := range []int{200, 0, 0, 503, 429, 404, 200} {
		send(next)
	}
	r.Lost(errors.New("EOF"))
	send(0)
	send(200)
	want := []string{
		"cannot reach http://a.example, trying again", "connected",
		"the connection is away, and is tried again: Internal error", "connected",
	}
	if !slices.Equal(told, want) {
		t.Errorf("it tells %q", told)
	}
}
