package page

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var positions = map[string]position{
	"one value":  {values: []*string{new("42")}},
	"backward":   {backward: true, values: []*string{new("a"), new("b")}},
	"nulls":      {values: []*string{nil, new(""), nil}},
	"binary":     {values: []*string{new("\x00\xff\n"), new("é")}},
	"long":       {values: []*string{new(strings.Repeat("x", 300))}},
	"the end":    {backward: true, end: true},
	"no values":  {},
	"many nulls": {values: make([]*string, 20)},
}

func TestToken(t *testing.T) {
	t.Parallel()

	s := signer{[][]byte{RandomSecret()}}
	for name, want := range positions {
		token, err := s.seal("scope", want)
		if err != nil {
			t.Fatal(err)
		}
		got, ok := s.open("scope", token, len(want.values))
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(position{})); diff != "" || !ok {
			t.Errorf("%s: ok %v (-want +got)\n%s", name, ok, diff)
		}
		if _, ok := s.open("scope", token, len(want.values)+1); ok && !want.end {
			t.Errorf("%s: opened with a field too many", name)
		}
		if _, ok := s.open("scope", token, len(want.values)-1); ok && !want.end && len(want.values) > 0 {
			t.Errorf("%s: opened with a field too few", name)
		}
		if _, ok := s.open("another", token, len(want.values)); ok {
			t.Errorf("%s: opened for another scope", name)
		}
	}
}

// The parts of a scope and of a cursor cannot be shifted into each other.
func TestTagBindsTheScope(t *testing.T) {
	t.Parallel()

	secret := RandomSecret()
	if cmp.Equal(tag(secret, "ab", []byte("c")), tag(secret, "a", []byte("bc"))) {
		t.Error("two scopes have the same tag")
	}
}

// A cursor has one spelling: bits at its end that mean nothing are not ignored.
func TestTokenHasOneSpelling(t *testing.T) {
	t.Parallel()

	s := signer{[][]byte{RandomSecret()}}
	loose := 0
	for name, p := range positions {
		token, err := s.seal("scope", p)
		if err != nil {
			t.Fatal(err)
		}
		same, err := base64.RawURLEncoding.DecodeString(token)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_" {
			other := token[:len(token)-1] + string(c)
			b, err := base64.RawURLEncoding.DecodeString(other)
			if err != nil || other == token || !cmp.Equal(b, same) {
				continue
			}
			loose++
			if _, ok := s.open("scope", other, len(p.values)); ok {
				t.Errorf("%s: %q is taken for %q", name, other, token)
			}
		}
	}
	if loose == 0 {
		t.Error("no cursor has a second spelling: the test proves nothing")
	}
}

func TestTokenIsCompact(t *testing.T) {
	t.Parallel()

	token, err := signer{[][]byte{RandomSecret()}}.seal("/books\nid", positions["one value"])
	if err != nil {
		t.Fatal(err)
	}
	if len(token) > 28 {
		t.Errorf("a cursor of a number has %d characters, want at most 28", len(token))
	}
}

// Whatever stands in a cursor that has the right tag, reading it is safe and what was read
// is written the same.
func FuzzPosition(f *testing.F) {
	for _, p := range positions {
		f.Add(appendPosition(nil, p), len(p.values))
	}
	f.Add([]byte{tokenVersion, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, 1)
	f.Add([]byte{tokenVersion, flagEnd}, 0)

	f.Fuzz(func(t *testing.T, b []byte, fields int) {
		if fields < 0 || fields > 100 {
			return
		}
		p, ok := parsePosition(b, fields)
		if !ok {
			return
		}
		if !p.end && len(p.values) != fields || p.end && len(p.values) > 0 {
			t.Errorf("got %d values of %d fields, end %v", len(p.values), fields, p.end)
		}
		again, ok := parsePosition(appendPosition(nil, p), fields)
		if diff := cmp.Diff(p, again, cmp.AllowUnexported(position{})); diff != "" || !ok {
			t.Errorf("ok %v (-first +again)\n%s", ok, diff)
		}
	})
}

// No text is a cursor but those that were made with a secret.
func FuzzToken(f *testing.F) {
	secret := []byte("a secret of the fuzz test")
	s := signer{[][]byte{secret}}
	made := map[string]bool{}
	for _, p := range positions {
		token, err := s.seal("/books\nid", p)
		if err != nil {
			f.Fatal(err)
		}
		made[token] = true
		f.Add(token)
	}
	f.Add("")
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, 40)))

	f.Fuzz(func(t *testing.T, token string) {
		for fields := range 4 {
			if _, ok := s.open("/books\nid", token, fields); ok && !made[token] {
				t.Errorf("%q is taken for a cursor", token)
			}
		}
	})
}
