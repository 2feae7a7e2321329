package webhook_test

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/testing/fake/dns"
	"github.com/spoolhq/spool/webhook"
)

// The system trusts the certificate of httptest's servers, which is for 127.0.0.1 and example.com.
func TestMain(m *testing.M) {
	code, err := withTrust(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func withTrust(m *testing.M) (int, error) {
	dir, err := os.MkdirTemp("", "webhook")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	s := httptest.NewTLSServer(nil)
	s.Close()
	file := filepath.Join(dir, "trusted.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return 0, err
	}
	if err := os.Setenv("SSL_CERT_FILE", file); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// TLS is checked: the certificate is for the address, and for no other name of the machine.
func TestSendTLS(t *testing.T) {
	t.Parallel()

	server := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || r.TLS.Version < tls.VersionTLS12 {
			t.Error("not over TLS")
		}
	}))
	t.Cleanup(server.Close)
	sender := newSender(t, webhook.Config{Egress: egress.Policy{Allow: []string{"127.0.0.1", "localhost"}}})
	post := event(t, server.URL+"/in?key=hidden")
	post.Listed = false
	expect(t, sender.Send(t.Context(), post), webhook.Delivered, 200, "")
	post.URL = strings.Replace(post.URL, "127.0.0.1", "localhost", 1)
	expect(t, sender.Send(t.Context(), post), webhook.Failed, 0, "the endpoint cannot be reached")
}

// The address counts that is dialled, also if the name led elsewhere a moment before.
func TestSendRebinding(t *testing.T) {
	t.Parallel()

	var posts, lookups atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		posts.Add(1)
		w.Header().Set("Connection", "close")
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	sender := newSender(t, webhook.Config{Egress: egress.Policy{Allow: []string{"127.0.0.1"}}})
	addresses := [][4]byte{{127, 0, 0, 1}, {10, 0, 0, 1}, {169, 254, 169, 254}, {127, 0, 0, 1}}
	webhook.SetResolver(sender, dns.Resolver(func() [4]byte { return addresses[lookups.Add(1)-1] }))
	post := event(t, "https://example.com:"+port+"/in?key=hidden")
	post.Listed = false
	const refused = "the host of the endpoint is at an address that must not be reached"
	for i, want := range []string{"", refused, refused, ""} {
		class, status := webhook.Delivered, 200
		if want != "" {
			class, status = webhook.Failed, 0
		}
		outcome := sender.Send(t.Context(), post)
		expect(t, outcome, class, status, want)
		if want != "" && spool.CodeOf(outcome.Err) != spool.Forbidden {
			t.Errorf("%d: %v", i, outcome.Err)
		}
	}
	if posts.Load() != 2 || lookups.Load() != 4 {
		t.Errorf("%d posts after %d lookups", posts.Load(), lookups.Load())
	}
}
