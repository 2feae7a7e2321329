package surrogate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/spoolhq/spool/internal/surrogate"
)

// read returns what the JSON texts of the pieces say together.
func read(t *testing.T, pieces ...string) (said string, found bool) {
	t.Helper()

	var j surrogate.Joiner
	var b strings.Builder
	for _, piece := range pieces {
		marked, has := surrogate.Mark(piece)
		found = found || has
		var text string
		if err := json.Unmarshal([]byte(marked), &text); err != nil {
			t.Fatalf("%s is read as %s: %v", piece, marked, err)
		}
		b.WriteString(j.Join(text))
	}
	return b.String() + j.End(), found
}

func TestJoin(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		pieces []string
		want   string
		found  bool
	}{
		{[]string{`"a"`, `"b"`}, "ab", false},
		{[]string{`"\ud83d\ude00"`, `"\uD83D\uDE00"`}, "😀😀", false},
		{[]string{`"a\ud83d"`, `"\ude00b"`}, "a😀b", true},
		{[]string{`"\uD83D"`, `""`, `"\uDE00"`}, "😀", true},
		{[]string{`"\ud83d"`, `"x"`}, "\ufffdx", true},
		{[]string{`"\ud83d"`}, "\ufffd", true},
		{[]string{`"\ude00"`, `"\ud83d"`}, "\ufffd\ufffd", true},
		{[]string{`"\ud83d"`, `"\ud83d"`, `"\ude00"`}, "\ufffd😀", true},
		{[]string{`"\ud83d\ud83d\ude00"`}, "\ufffd😀", true},
		{[]string{`"\\ud83d"`, `"\\ude00"`}, `\ud83d\ude00`, false},
		{[]string{`"\\\ud83d"`, `"\ude00\\"`}, `\😀\`, true},
		{[]string{`"\n\u00e9\ud83d\n"`}, "\né\ufffd\n", true},
		{[]string{`"😀"`, `"\u00e9"`}, "😀é", false},
	} {
		if got, found := read(t, c.pieces...); got != c.want || found != c.found {
			t.Errorf("%q: got %q, %t, want %q", c.pieces, got, found, c.want)
		}
	}
}

// FuzzMark compares what is read of a whole text with what is read of the text in two pieces, divided anywhere between two
// UTF-16 units.
func FuzzMark(f *testing.F) {
	f.Add("a😀b", 2)
	f.Add("\\\"\n😀😀", 5)
	f.Fuzz(func(t *testing.T, text string, at int) {
		text = strings.ToValidUTF8(text, "")
		for _, r := range text {
			if r >= 0x10F400 && r < 0x10FC00 {
				t.Skip("such characters stand for halves")
			}
		}
		escaped := escape(text)
		if len(escaped) == 0 {
			return
		}
		at = (at%len(escaped) + len(escaped)) % len(escaped)
		first, second := `"`+strings.Join(escaped[:at], "")+`"`, `"`+strings.Join(escaped[at:], "")+`"`
		if got, _ := read(t, first, second); got != text {
			t.Errorf("%s and %s: got %q, want %q", first, second, got, text)
		}
	})
}

// escape returns the escapes of a text's UTF-16 units.
func escape(text string) []string {
	units := utf16.Encode([]rune(text))
	out := make([]string, len(units))
	for i, u := range units {
		out[i] = fmt.Sprintf(`\u%04x`, u)
	}
	return out
}
