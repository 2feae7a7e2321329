package main

import (
	"bufio"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// events reads what a stream says, one line of text for each event, until it ends.
func (v visitor) events(path string) <-chan string {
	v.t.Helper()
	response := v.open(http.MethodGet, path, nil)
	if kind := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || kind != "text/event-stream" {
		v.t.Fatalf("status %d with %s", response.StatusCode, kind)
	}
	v.t.Cleanup(func() { _ = response.Body.Close() })
	all := make(chan string)
	go func() {
		defer close(all)
		var event []string
		for lines := bufio.NewScanner(response.Body); lines.Scan(); {
			switch line := lines.Text(); {
			case line != "":
				event = append(event, line)
			case len(event) > 0:
				select {
				case all <- strings.Join(event, " "):
				case <-v.t.Context().Done():
					return
				}
				event = nil
			}
		}
	}()
	return all
}

// hear returns the next event, and false when the stream has ended.
func hear(t *testing.T, events <-chan string) (string, bool) {
	t.Helper()
	select {
	case event, more := <-events:
		return event, more
	case <-time.After(20 * time.Second):
		t.Fatal("nothing is heard of the prices")
		return "", false
	}
}

func heard(t *testing.T, events <-chan string) string {
	t.Helper()
	event, _ := hear(t, events)
	return event
}

// TestPricesAreFollowed has a client that listens before there is anything to hear, and one
// that comes later and missed a part.
func TestPricesAreFollowed(t *testing.T) {
	t.Parallel()

	v := open(t)
	partner := v.partner(demoKey)
	live := v.events("/prices")
	partner.send(http.MethodPatch, "/books/1", map[string]any{"stock": 11}).expect(http.StatusOK) // which changes no price
	partner.send(http.MethodPatch, "/books/1", map[string]any{"price": 949}).expect(http.StatusOK)
	partner.with("If-Match", `"1"`).send(http.MethodPatch, "/books/1",
		map[string]any{"price": 1}).expect(http.StatusPreconditionFailed)
	first := `id: 1 event: price data: {"bookId":1,"before":999,"after":949,"at":"2026-03-02T09:00:00Z"}`
	if diff := cmp.Diff(first, heard(t, live)); diff != "" {
		t.Error(diff)
	}
	partner.send(http.MethodPatch, "/books/2", map[string]any{"price": 500}).expect(http.StatusOK)
	second := `id: 2 event: price data: {"bookId":2,"before":1099,"after":500,"at":"2026-03-02T09:00:01Z"}`
	if diff := cmp.Diff(second, heard(t, live)); diff != "" {
		t.Error(diff)
	}
	late := v.with("Last-Event-ID", "1").events("/prices")
	if diff := cmp.Diff(second, heard(t, late)); diff != "" {
		t.Error(diff)
	}
	v.with("Last-Event-ID", "x").get("/prices").expect(http.StatusUnprocessableEntity)
}
