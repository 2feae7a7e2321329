package vault_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/vault"
)

func key(fill byte) []byte { return bytes.Repeat([]byte{fill}, vault.KeySize) }

func open(t *testing.T, keys ...[]byte) *vault.Vault {
	t.Helper()

	v, err := vault.New(keys)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWords(t *testing.T) {
	t.Parallel()

	v := open(t, key(1))
	sealed := v.Seal([]byte("a token"), "ab", "c")
	if plain, err := v.Open(sealed, "ab", "c"); err != nil || string(plain) != "a token" {
		t.Errorf("got %q, %v", plain, err)
	}
	for _, words := range [][]string{{"a", "bc"}, {"ab"}, {"ab", "c", ""}, {"c", "ab"}, nil} {
		if plain, err := v.Open(sealed, words...); !errors.Is(err, vault.ErrUnreadable) || plain != nil {
			t.Errorf("%q: got %q, %v", words, plain, err)
		}
	}
	if strings.Contains(sealed, "token") || sealed == v.Seal([]byte("a token"), "ab", "c") {
		t.Errorf("sealed as %s", sealed)
	}
}

// A text of an old key is read as long as the key is there.
func TestRotation(t *testing.T) {
	t.Parallel()

	old := open(t, key(1)).Seal([]byte("a token"), "a")
	both := open(t, key(2), key(1))
	if plain, err := both.Open(old, "a"); err != nil || string(plain) != "a token" {
		t.Errorf("got %q, %v", plain, err)
	}
	fresh := both.Seal([]byte("a token"), "a")
	if _, err := open(t, key(2)).Open(old, "a"); !errors.Is(err, vault.ErrUnreadable) {
		t.Errorf("got %v", err)
	}
	if plain, err := open(t, key(2)).Open(fresh, "a"); err != nil || string(plain) != "a token" {
		t.Errorf("got %q, %v", plain, err)
	}
}

// No change of a sealed text is accepted.
func TestAltered(t *testing.T) {
	t.Parallel()

	v := open(t, key(1))
	sealed := v.Seal([]byte("a token"), "a")
	for i := range sealed {
		altered := []byte(sealed)
		if altered[i] = 'A'; sealed[i] == 'A' {
			altered[i] = 'Q'
		}
		if _, err := v.Open(string(altered), "a"); err == nil {
			t.Errorf("the byte %d was altered", i)
		}
		if _, err := v.Open(sealed[:i], "a"); err == nil {
			t.Errorf("%d bytes are enough", i)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()

	for _, keys := range [][][]byte{nil, {{1}}, {key(1), nil}, {make([]byte, 33)}} {
		if _, err := vault.New(keys); spool.CodeOf(err) != spool.Invalid {
			t.Errorf("%v: got %v", keys, err)
		}
	}
}
