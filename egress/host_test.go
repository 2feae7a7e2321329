package egress_test

import (
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
)

func TestHosts(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		policy egress.Policy
		hosts  string
		ok     bool
	}{
		{
			egress.Policy{},
			"example.com 8.8.8.8 [2606:4700::1111] localhost.example.com internal.example.com svc.example.com a.b.museum", true,
		},
		{egress.Policy{}, "db DB. x2 db.default.svc redis.service.consul db.svc.", false},
		{egress.Policy{Allow: []string{"db", ".consul"}}, "db redis.service.consul", true},
		{egress.Policy{AllowPrivate: true}, "db db.default.svc", true},
		{egress.Policy{}, "localhost LOCALHOST. a.localhost localhost.localdomain ip6-localhost", false},
		{
			egress.Policy{},
			"metadata metadata.google.internal Metadata.Google.Internal. instance-data instance-data.ec2.internal", false,
		},
		{egress.Policy{}, "db.internal printer.local nas.lan box.home.arpa wiki.corp", false},
		{
			egress.Policy{},
			"127.0.0.1 10.0.0.1 169.254.169.254 [::1] ::1 [fd00:ec2::254] [::ffff:127.0.0.1] [64:ff9b::7f00:1] 0.0.0.0", false,
		},
		{egress.Policy{}, "127.1 2130706433 0x7f000001 0x7f.1 017700000001 1.2.3.4.5", false},
		{
			egress.Policy{},
			"①②⑦.⓪.⓪.① 127。0。0。1 １２７.0.0.1 ｌocalhost münchen.example example.com\u00ad", false,
		},
		{egress.Policy{}, "xn--mnchen-3ya.example", true},
		{egress.Policy{Allow: []string{"db.internal", "10.0.0.0/8"}}, "db.internal 10.1.2.3", true},
		{egress.Policy{Allow: []string{"db.internal"}}, "other.internal 10.1.2.3 localhost", false},
		{egress.Policy{AllowPrivate: true}, "localhost db.internal 127.0.0.1", true},
		{
			egress.Policy{AllowPrivate: true},
			"metadata.google.internal 169.254.169.254 2852039166 0xa9fea9fe ①⑥⑨.②⑤④.①⑥⑨.②⑤④", false,
		},
	} {
		hosts, err := egress.NewHosts(c.policy)
		if err != nil {
			t.Fatal(err)
		}
		for host := range strings.FieldsSeq(c.hosts) {
			if err := hosts.Check(host); (err == nil) != c.ok || err != nil && spool.CodeOf(err) != spool.Forbidden {
				t.Errorf("%+v, %s: %v", c.policy, host, err)
			}
		}
	}
	if _, err := egress.NewHosts(egress.Policy{Allow: []string{"a/b"}}); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a bad policy: %v", err)
	}
}

func TestHostsListed(t *testing.T) {
	t.Parallel()

	hosts, err := egress.NewHosts(egress.Policy{Allow: []string{"db.internal", ".corp", "10.0.0.0/8"}, AllowPrivate: true})
	if err != nil {
		t.Fatal(err)
	}
	for host, want := range map[string]bool{
		"db.internal": true, "DB.internal.": true, "xdb.internal": false, "a.corp": true, "10.1.1.1": true,
		"[::ffff:10.1.1.1]": true, "127.0.0.1": false, "localhost": false, "example.com": false, "": false,
	} {
		if got := hosts.Listed(host); got != want {
			t.Errorf("Listed(%q) = %t", host, got)
		}
	}
}
