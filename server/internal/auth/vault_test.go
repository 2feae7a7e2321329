package auth

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// What one key has sealed for a use is opened with it for that use only, also when it is not the first key any more.
func TestVault(t *testing.T) {
	t.Parallel()

	key := func(b string) []byte { return []byte(strings.Repeat(b, 32)) }
	vault := func(keys ...[]byte) *Vault {
		v, err := NewVault(keys)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	for _, text := range []string{"", "whsec_x", strings.Repeat("x", 10_000)} {
		old := vault(key("a"))
		sealed, err := old.Seal("use", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for name, v := range map[string]*Vault{"the same": old, "behind a new key": vault(key("b"), key("a"))} {
			if got, err := v.Open("use", sealed); err != nil || string(got) != text {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		again, err := old.Seal("use", []byte(text))
		if err != nil || bytes.Equal(sealed, again) || text != "" && bytes.Contains(sealed, []byte(text)) {
			t.Errorf("sealed again: %x, %x, %v", sealed, again, err)
		}
		fails := func(name string, v *Vault, use string, sealed []byte) {
			if got, err := v.Open(use, sealed); spool.CodeOf(err) != spool.Internal || got != nil {
				t.Errorf("%s: %q, %v", name, got, err)
			}
		}
		fails("another key", vault(key("b")), "use", sealed)
		fails("another use", old, "other", sealed)
		for i := range sealed[:min(40, len(sealed))] {
			other := bytes.Clone(sealed)
			other[i] ^= 1
			fails("changed", old, "use", other)
			fails("cut", old, "use", sealed[:i])
		}
	}
}
