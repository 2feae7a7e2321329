package fold_test

import (
	"testing"
	"unicode"

	"github.com/spoolhq/spool/rest/query/internal/fold"
)

func TestString(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		a, b string
		same bool
	}{
		{"", "", true},
		{"already lower 1", "already lower 1", true},
		{"Émile", "éMILE", true},
		{"ΣΟΦΟΣ", "σοφος", true},
		{"ẞ", "ß", true},
		{"ß", "ss", false},
		{"K", "\u212A", false}, // the Kelvin sign
		{"s", "ſ", false},
		{"I", "ı", false},
		{"Ǆ", "ǅ", true},
		{"𐐀", "𐐨", true},
		{"é", "e\u0301", false},
	} {
		if same := fold.String(test.a) == fold.String(test.b); same != test.same {
			t.Errorf("%q and %q: the same is %v, want %v", test.a, test.b, same, test.same)
		}
	}
}

// The orbit, of which databases get patterns, has to be what String makes equal.
func TestOrbit(t *testing.T) {
	t.Parallel()

	for r := range rune(unicode.MaxRune) {
		for _, o := range fold.Orbit(r) {
			if fold.Rune(o) != fold.Rune(r) {
				t.Fatalf("%U is in the orbit of %U and is not the same", o, r)
			}
		}
		if same := fold.Rune(r); same != r && len(fold.Orbit(r)) < 2 {
			t.Fatalf("%U stands for %U, which has no orbit", same, r)
		}
	}
}
