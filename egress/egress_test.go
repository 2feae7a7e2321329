package egress

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/testing/fake/dns"
)

func TestClassify(t *testing.T) {
	t.Parallel()

	for addr, want := range map[string]class{
		"8.8.8.8":                public,
		"2606:4700::1111":        public,
		"172.32.0.1":             public,
		"100.128.0.1":            public,
		"0.0.0.0":                unspecified,
		"0.1.2.3":                unspecified,
		"::":                     unspecified,
		"127.0.0.1":              loopback,
		"127.255.0.9":            loopback,
		"::1":                    loopback,
		"10.1.2.3":               privateNet,
		"172.16.0.1":             privateNet,
		"172.31.255.255":         privateNet,
		"192.168.1.1":            privateNet,
		"fc00::1":                privateNet,
		"fdff::1":                privateNet,
		"100.63.255.255":         public,
		"100.64.0.0":             sharedNAT,
		"100.64.0.1":             sharedNAT,
		"100.128.0.0":            public,
		"100.127.255.255":        sharedNAT,
		"169.254.1.1":            linkLocal,
		"fe80::1":                linkLocal,
		"fe80::1%eth0":           linkLocal,
		"224.0.0.1":              multicast,
		"ff02::1":                multicast,
		"255.255.255.255":        reserved,
		"203.0.113.7":            reserved,
		"2001:db8::1":            reserved,
		"2001:0:1::1":            reserved,
		"169.254.169.254":        metadata,
		"fd00:ec2::254":          metadata,
		"100.100.100.200":        metadata,
		"168.63.129.16":          metadata,
		"::ffff:127.0.0.1":       loopback,
		"::ffff:169.254.169.254": metadata,
		"::ffff:8.8.8.8":         public,
		"::127.0.0.1":            loopback,
		"64:ff9b::7f00:1":        loopback,
		"64:ff9b::a9fe:a9fe":     metadata,
		"64:ff9b::808:808":       public,
		"64:ff9b:1::808:808":     privateNet,
		"2002:0a00:0001::1":      privateNet,
		"2002:0808:0808::1":      public,
		"::ffff:0:10.0.0.1":      privateNet,
	} {
		if got := classify(netip.MustParseAddr(addr)); got != want {
			t.Errorf("%s is %s, want %s", addr, got, want)
		}
	}
	if got := classify(netip.Addr{}); got == public {
		t.Error("no address is public")
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		policy     Policy
		host, addr string
		ok         bool
	}{
		"public":               {Policy{}, "example.com", "8.8.8.8", true},
		"private":              {Policy{}, "example.com", "10.0.0.1", false},
		"mapped":               {Policy{}, "example.com", "::ffff:10.0.0.1", false},
		"all private":          {Policy{AllowPrivate: true}, "example.com", "10.0.0.1", true},
		"all but metadata":     {Policy{AllowPrivate: true}, "example.com", "169.254.169.254", false},
		"all but metadata v6":  {Policy{AllowPrivate: true}, "example.com", "fd00:ec2::254", false},
		"all but link-local":   {Policy{AllowPrivate: true}, "example.com", "fe80::1", false},
		"name":                 {Policy{Allow: []string{"Db.Internal."}}, "db.internal", "10.0.0.1", true},
		"name with dot":        {Policy{Allow: []string{"db.internal"}}, "DB.internal.", "127.0.0.1", true},
		"other name":           {Policy{Allow: []string{"db.internal"}}, "xdb.internal", "10.0.0.1", false},
		"name below":           {Policy{Allow: []string{"internal"}}, "db.internal", "10.0.0.1", false},
		"suffix":               {Policy{Allow: []string{".internal"}}, "db.internal", "10.0.0.1", true},
		"suffix itself":        {Policy{Allow: []string{".internal"}}, "internal", "10.0.0.1", true},
		"suffix inside":        {Policy{Allow: []string{".internal"}}, "evilinternal", "10.0.0.1", false},
		"name at metadata":     {Policy{Allow: []string{"db.internal"}}, "db.internal", "169.254.169.254", false},
		"address":              {Policy{Allow: []string{"10.0.0.1"}}, "a", "10.0.0.1", true},
		"other address":        {Policy{Allow: []string{"10.0.0.1"}}, "a", "10.0.0.2", false},
		"mapped entry":         {Policy{Allow: []string{"::ffff:10.0.0.1"}}, "a", "10.0.0.1", true},
		"prefix":               {Policy{Allow: []string{"10.0.0.0/8"}}, "a", "10.9.9.9", true},
		"prefix, mapped":       {Policy{Allow: []string{"10.0.0.0/8"}}, "a", "::ffff:10.9.9.9", true},
		"prefix, NAT64":        {Policy{Allow: []string{"10.0.0.0/8"}}, "a", "64:ff9b::a00:1", true},
		"metadata, in so many": {Policy{Allow: []string{"169.254.169.254"}}, "a", "169.254.169.254", true},
		"bracketed":            {Policy{Allow: []string{"[::1]"}}, "a", "::1", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rules, err := c.policy.rules()
			if err != nil {
				t.Fatal(err)
			}
			err = rules.check(c.host, netip.MustParseAddr(c.addr))
			if (err == nil) != c.ok {
				t.Errorf("got %v", err)
			}
			if err != nil && (spool.CodeOf(err) != spool.Forbidden || !strings.Contains(spool.MessageOf(err), c.host)) {
				t.Errorf("error %v does not name the host", err)
			}
		})
	}
	for _, entry := range []string{"", "http://a", "a/b", "a:80", "*.a", "10.0.0.0/99", "user@a"} {
		if _, err := New(Policy{Allow: []string{entry}}); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("entry %q: got %v", entry, err)
		}
	}
}

func TestTransport(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if to := r.URL.Query().Get("to"); to != "" {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return
		}
		_, _ = io.WriteString(w, "hello")
	}))
	t.Cleanup(server.Close)

	get := func(policy Policy, url string) error {
		transport, err := New(policy)
		if err != nil {
			t.Fatal(err)
		}
		defer transport.CloseIdleConnections()
		client := &http.Client{Transport: transport}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		return response.Body.Close()
	}

	err := get(Policy{}, server.URL)
	if spool.CodeOf(err) != spool.Forbidden || !strings.Contains(err.Error(), "add 127.0.0.1 to the egress policy") {
		t.Errorf("loopback: got %v", err)
	}
	if err := get(Policy{AllowPrivate: true}, server.URL); err != nil {
		t.Errorf("allowed loopback: got %v", err)
	}
	if err := get(
		Policy{Allow: []string{"127.0.0.1"}}, server.URL+"/?to=http://[::1]:1/",
	); spool.CodeOf(err) != spool.Forbidden {
		t.Errorf("redirect to a refused address: got %v", err)
	}
	for _, to := range []string{"ftp://127.0.0.1/", "file:///etc/passwd", "gopher://127.0.0.1/"} {
		if err := get(Policy{AllowPrivate: true}, server.URL+"/?to="+to); spool.CodeOf(err) != spool.Forbidden {
			t.Errorf("redirect to %s: got %v", to, err)
		}
	}
}

// The environment's proxy would dial in our place, unchecked.
func TestTransportIgnoresProxies(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	transport, err := New(Policy{})
	if err != nil {
		t.Fatal(err)
	}
	if transport.http.Proxy != nil {
		t.Error("the transport has a proxy")
	}
}

func TestTransportDialsTCPOnly(t *testing.T) {
	t.Parallel()

	transport, err := New(Policy{AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	if conn, err := transport.DialContext(t.Context(), "udp", "127.0.0.1:53"); err == nil {
		_ = conn.Close()
		t.Error("dialled UDP")
	}
}

// A name that is harmless when it is looked at and somewhere else when it is dialled.
func TestRebinding(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	var lookups atomic.Int32
	transport, err := New(Policy{Allow: []string{"127.0.0.1"}})
	if err != nil {
		t.Fatal(err)
	}
	transport.Resolver = dns.Resolver(func() [4]byte {
		if lookups.Add(1) == 1 {
			return [4]byte{127, 0, 0, 1}
		}
		return [4]byte{169, 254, 169, 254}
	})

	address := net.JoinHostPort("rebind.example.com", port)
	conn, err := transport.DialContext(t.Context(), "tcp4", address)
	if err != nil {
		t.Fatalf("first dial: %v", err)
	}
	_ = conn.Close()
	_, err = transport.DialContext(t.Context(), "tcp4", address)
	var refused *spool.Error
	if !errors.As(err, &refused) || refused.Code != spool.Forbidden ||
		!strings.Contains(refused.Message, "rebind.example.com") {
		t.Errorf("second dial: got %v", err)
	}
	if strings.Contains(refused.Message, "resolve") {
		t.Errorf("message %q", refused.Message)
	}
}
