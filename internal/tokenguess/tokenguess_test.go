package tokenguess_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/spoolhq/spool/internal/tokenguess"
)

// sample is a text with the tokens that the tokenizer o200k_base counts.
type sample struct {
	Name, Text string
	Tokens     int64
}

func samples(tb testing.TB) (all []sample) {
	tb.Helper()

	text, err := os.ReadFile("testdata/texts.json")
	if err != nil {
		tb.Fatal(err)
	}
	if err := json.Unmarshal(text, &all); err != nil {
		tb.Fatal(err)
	}
	return all
}

// The estimate is between 0.9 and 2 times the count, for prose in 16 languages and for what machines write.
func TestOf(t *testing.T) {
	t.Parallel()

	for _, s := range samples(t) {
		guess := tokenguess.Of(s.Text)
		if ratio := float64(guess) / float64(s.Tokens); ratio < 0.9 || ratio > 2 {
			t.Errorf("%s: %d for %d tokens, which is %.2f", s.Name, guess, s.Tokens, ratio)
		}
	}
}

// The estimate grows with the text, and text that is not valid UTF-8 is no exception.
func TestOfShapes(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]int64{
		"": 0, "a": 1, " ": 0, "\n": 1, "1234": 2, "1 2": 3, "----------": 2, "{\n": 1, "\xff": 1, "\xe4\xbd": 1,
		"\xf0\x9f": 1, "a\xc3": 2, "\xe1": 1, "\xe1\xb8": 1,
	} {
		if got := tokenguess.Of(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
	for _, s := range samples(t) {
		whole, last := tokenguess.Of(s.Text), int64(0)
		for end := 0; end < len(s.Text); end += 13 {
			part := tokenguess.Of(s.Text[:end])
			if part < last-25 || part > whole+25 {
				t.Fatalf("%s: %d for the first %d bytes, %d for a few less, %d for all", s.Name, part, end, last, whole)
			}
			last = part
		}
		if long := tokenguess.Of(strings.Repeat(s.Text+"\n", 10)); long < 9*whole || long > 11*whole {
			t.Errorf("%s, ten times: %d, once: %d", s.Name, long, whole)
		}
	}
}

func BenchmarkOf(b *testing.B) {
	for _, s := range samples(b) {
		b.Run(s.Name, func(b *testing.B) {
			b.SetBytes(int64(len(s.Text)))
			for b.Loop() {
				tokenguess.Of(s.Text)
			}
		})
	}
}
