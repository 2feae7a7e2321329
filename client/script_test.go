package client_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/client"
	"github.com/spoolhq/spool/wire"
)

// script is a transport that answers the n-th request, from 1. It is for bubbles of testing/synctest, in which
// time is exact.
type script struct {
	answer func(n int, r *http.Request) *answer
	// asked are the times of the requests, and their ids.
	asked []time.Time
	ids   []string
}

// RoundTrip implements [http.RoundTripper].
func (s *script) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		_, _ = io.Copy(io.Discard, r.Body)
		_ = r.Body.Close()
	}
	s.asked = append(s.asked, time.Now())
	s.ids = append(s.ids, r.Header.Get("Last-Event-ID"))
	res := s.answer(len(s.asked), r)
	if res == nil {
		return nil, errors.New("connection refused")
	}
	return &http.Response{StatusCode: res.Status, Header: res.Header, Body: res.Body, Request: r}, nil
}

// answer is an answer of a script. Nil: there is none, not even a connection.
type answer struct {
	Status int
	Header http.Header
	Body   io.ReadCloser
}

// waits returns the times between the requests.
func (s *script) waits() (waits []time.Duration) {
	for i := 1; i < len(s.asked); i++ {
		waits = append(waits, s.asked[i].Sub(s.asked[i-1]))
	}
	return waits
}

// client returns a client over the script.
func (s *script) client(t *testing.T, change ...func(*client.Options)) *client.Client {
	t.Helper()

	o := client.Options{HTTPClient: &http.Client{Transport: s, Timeout: time.Minute}}
	for _, fn := range change {
		fn(&o)
	}
	c, err := client.New("http://spool.test/base/", o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// says returns an answer with a body. Headers come in pairs.
func says(status int, kind, body string, header ...string) *answer {
	res := &answer{
		Status: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)),
	}
	for i := 0; i+1 < len(header); i += 2 {
		res.Header.Set(header[i], header[i+1])
	}
	return res
}

// fails returns an error in the server's form.
func fails(status int, code spool.Code, header ...string) *answer {
	return says(status, "application/json; charset=utf-8", fmt.Sprintf(`{"error":"it is %s","code":%q}`, code, code),
		header...)
}

// ends returns an event stream that ends after the text.
func ends(text string) *answer {
	return says(http.StatusOK, "text/event-stream; charset=utf-8", text)
}

// stalls returns an event stream that brings nothing more after the text.
func stalls(r *http.Request, text string) *answer {
	res := ends(text)
	res.Body = &stalled{r.Context(), strings.NewReader(text)}
	return res
}

// ticks returns an event stream with a comment after each interval.
func ticks(r *http.Request, every time.Duration) *answer {
	in, out := io.Pipe()
	go func() {
		for r.Context().Err() == nil {
			select {
			case <-time.After(every):
			case <-r.Context().Done():
			}
			_, _ = io.WriteString(out, ": keepalive\n\n")
		}
		_ = out.CloseWithError(r.Context().Err())
	}()
	res := ends("")
	res.Body = in
	return res
}

// pieces is a body that brings one piece with each read, until its request is over.
type pieces struct {
	ctx  context.Context
	left []string
}

// Read implements [io.Reader].
func (p *pieces) Read(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil || len(p.left) == 0 {
		return 0, cmp.Or(err, io.EOF)
	}
	n := copy(b, p.left[0])
	p.left = p.left[1:]
	return n, nil
}

type stalled struct {
	ctx  context.Context
	text *strings.Reader
}

// Read implements [io.Reader].
func (s *stalled) Read(p []byte) (int, error) {
	if n, err := s.text.Read(p); err == nil {
		return n, nil
	}
	<-s.ctx.Done()
	return 0, s.ctx.Err()
}

// Close implements [io.Closer].
func (s *stalled) Close() error { return nil }

// entry returns the event of a record entry.
func entry(seq int) string {
	return fmt.Sprintf(
		"id: %d - -\ndata: {\"kind\":\"thread\",\"event\":{\"threadId\":\"t1\",\"seq\":%d,\"type\":\"receipt\",\"payload\":null}}\n\n",
		seq, seq,
	)
}

// notice returns the event of a notice.
func notice(kind wire.EntryType, payload string) string {
	return fmt.Sprintf(
		"data: {\"kind\":\"thread\",\"event\":{\"threadId\":\"t1\",\"seq\":0,\"type\":%q,\"payload\":%s}}\n\n", kind, payload,
	)
}
