package mcp

import (
	"bufio"
	"io"
	"mime"
	"net/http"
	"time"
)

// maxStandingPause bounds the pause before a server's own stream is opened again.
const maxStandingPause = time.Minute

// standing answers the request for a server's own stream, on which servers of older revisions ask questions that name
// no call. The answer is there at once and lasts as long as the connection: the SDK waits for the first bytes, and
// breaks the connection, with all its calls, if the stream does not come or ends. Events between two streams are
// lost.
func (t *roundTripper) standing(r *http.Request) *http.Response {
	body, events := io.Pipe()
	go func() {
		ctx := r.Context()
		defer events.Close()
		for pause := firstPause; ctx.Err() == nil; pause = min(2*pause, maxStandingPause) {
			some, refused := t.stream(r, events)
			if refused {
				<-ctx.Done()
				return
			}
			if some {
				pause = firstPause
			}
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
	}()
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: body, ContentLength: -1, Request: r,
	}
}

// stream opens a server's own stream and copies its whole events. It returns whether there were some, and whether the
// server has refused to have such a stream.
func (t *roundTripper) stream(r *http.Request, to io.Writer) (some, refused bool) {
	response, err := t.exchange(r.Context(), r.Clone(r.Context()))
	if err != nil {
		return false, false
	}
	defer response.Body.Close()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode >= http.StatusInternalServerError || response.StatusCode == http.StatusTooManyRequests:
		return false, false
	case response.StatusCode != http.StatusOK || kind != "text/event-stream":
		return false, true
	}
	whole := &seenEvents{ReadCloser: response.Body, lines: bufio.NewReader(response.Body), catch: &catch{}, whole: true}
	n, _ := io.Copy(to, whole) // the next stream goes on
	return n > 0, false
}
