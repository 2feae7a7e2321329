package relay_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/relay"
)

// Headers of the configuration are sent, and replace none of the relay's.
func TestHeader(t *testing.T) {
	t.Parallel()

	got := make(chan http.Header, 1)
	listening := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r.Header }))
	t.Cleanup(listening.Close)
	header := http.Header{"authorization": {"Bearer key"}, "Upstash-Retries": {"3"}, "X-Two": {"a", "b"}}
	r, err := relay.New(relay.Config{
		URL: listening.URL, Secrets: []string{secret}, Header: header, Transport: http.DefaultTransport,
	})
	if err != nil {
		t.Fatal(err)
	}
	header.Set("Upstash-Retries", "9") // it is the relay's by now
	if _, err := r.Deliver(t.Context(), delivery); err != nil {
		t.Fatal(err)
	}
	if len(got) == 0 {
		t.Fatal("nothing was sent")
	}
	sent := <-got
	if sent.Get("Authorization") != "Bearer key" || sent.Get("Upstash-Retries") != "3" || len(sent["X-Two"]) != 2 ||
		sent.Get("Content-Type") != "application/json" || sent.Get("Webhook-Signature") == "" {
		t.Errorf("sent %v", sent)
	}

	for name, want := range map[string]string{
		"content-type": "Header: Content-Type is the relay's own", "Webhook-Id": "Header: Webhook-Id is the relay's own",
		"Host": "Header: Host is the relay's own", "A B": `Header: "A B" is no name of a header`,
		"": `Header: "" is no name of a header`,
	} {
		_, err := relay.New(relay.Config{URL: consumer, Secrets: []string{secret}, Header: http.Header{name: {"hidden"}}})
		if spool.CodeOf(err) != spool.Invalid || err.Error() != want {
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
	_, err = relay.New(relay.Config{
		URL: consumer, Secrets: []string{secret}, Header: http.Header{"X": {"hidden\r\nHost: x"}},
	})
	if spool.CodeOf(err) != spool.Invalid || strings.Contains(err.Error(), "hidden") {
		t.Errorf("a value with a line break: %v", err)
	}
}
