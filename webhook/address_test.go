package webhook_test

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/webhook"
)

func TestCheckURL(t *testing.T) {
	t.Parallel()

	strict := newSender(t, webhook.Config{})
	listing := newSender(t, webhook.Config{
		Listed: []string{"127.0.0.1", "localhost", "hooks.corp", "10.0.0.0/8", "a.example"},
	})
	private := newSender(t, webhook.Config{Egress: egress.Policy{AllowPrivate: true}})
	const (
		noHTTPS = "url must be an https URL"
		noHTTP  = "url must be an https URL; http is for this machine, and for hosts that the configuration lists"
	)
	for _, c := range []struct {
		sender *webhook.Sender
		listed bool
		url    string
		want   string // the beginning
	}{
		{strict, false, "https://hooks.example.com/in?key=1", ""},
		{strict, false, "https://HOOKS.example.com:8443", ""},
		{strict, false, "https://8.8.8.8/", ""},
		{strict, false, "https://[2606:4700::1111]:65535/", ""},
		{strict, false, "https://hooks.example.com/" + strings.Repeat("x", 2048-26), ""},
		{strict, false, "https://hooks.example.com/" + strings.Repeat("x", 2049-26), "url is longer than 2048 bytes"},
		{strict, false, "", noHTTPS},
		{strict, false, "hooks.example.com", noHTTPS},
		{strict, false, "https://", noHTTPS},
		{strict, false, "https://:443/", noHTTPS},
		{strict, false, "ftp://hooks.example.com/", noHTTPS},
		{strict, false, "file:///etc/passwd", noHTTPS},
		{strict, false, "https://hooks.example.com/\x7f", noHTTPS},
		{strict, false, "https://hooks.example.com:x/", noHTTPS},
		{strict, false, "http://hooks.example.com/", noHTTP},
		{private, false, "http://hooks.example.com/", noHTTP},
		{strict, false, "https://user@hooks.example.com/", "url must not have a user or a password"},
		{strict, false, "https://user:hidden@hooks.example.com/", "url must not have a user or a password"},
		{strict, false, "https://hooks.example.com/#hidden", "url must not have a fragment"},
		{strict, false, "https://hooks.example.com/#", "url must not have a fragment"},
		{strict, false, "https://hooks.example.com:0/", "url must have a port from 1 to 65535"},
		{strict, false, "https://hooks.example.com:65536/", "url must have a port from 1 to 65535"},
		{strict, false, "https://127.0.0.1/", "url must not lead there: host 127.0.0.1 is at a loopback address"},
		{strict, false, "https://[::ffff:10.0.0.1]/", "url must not lead there: host ::ffff:10.0.0.1 is at a private address"},
		{strict, false, "https://169.254.169.254/", "url must not lead there: host 169.254.169.254 is at a cloud metadata"},
		{private, false, "https://169.254.169.254/", "url must not lead there: host 169.254.169.254 is at a cloud metadata"},
		{strict, false, "http://localhost:8080/", "url must not lead there: host localhost is a loopback name"},
		{strict, false, "https://hooks.corp/", "url must not lead there: host hooks.corp is a private name"},
		{strict, false, "https://2130706433/", "url must not lead there: host 2130706433 is a reserved name"},
		{strict, false, "https://①②⑦.⓪.⓪.①/", "url must not lead there: "},
		{listing, false, "http://127.0.0.1/", "url must not lead there: "},
		{listing, true, "http://127.0.0.1:9/", ""},
		{listing, true, "http://localhost./", ""},
		{listing, true, "http://hooks.corp/", ""},
		{listing, true, "http://10.1.2.3/", ""},
		{listing, true, "http://a.example/", ""},
		{listing, true, "http://b.example/", noHTTP},
		{listing, true, "http://192.168.1.1/", "url must not lead there: "},
		{private, false, "http://127.0.0.2/", ""},
		{private, false, "http://a.localhost/", ""},
		{private, false, "http://10.0.0.1/", noHTTP},
		{private, false, "https://10.0.0.1/", ""},
	} {
		err := c.sender.CheckURL("url", c.url, c.listed)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.url, err)
			}
			continue
		}
		if spool.CodeOf(err) != spool.Invalid || !strings.HasPrefix(spool.MessageOf(err), c.want) ||
			strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: %v, want %s", c.url, err, c.want)
		}
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for _, c := range []webhook.Config{{Egress: egress.Policy{Allow: []string{"a/b"}}}, {Listed: []string{"a/b"}}} {
		if _, err := webhook.NewSender(c); spool.CodeOf(err) != spool.Invalid || !strings.Contains(err.Error(), `"a/b"`) {
			t.Errorf("NewSender = %v", err)
		}
	}
}

func newSender(t *testing.T, c webhook.Config) *webhook.Sender {
	t.Helper()

	s, err := webhook.NewSender(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
