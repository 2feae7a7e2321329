package chat

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seen returns what a terminal shows of what is written to it.
func seen(written string) []string {
	lines := [][]string{nil} // of cells
	at := 0
	for _, r := range written {
		last := len(lines) - 1
		switch {
		case r == '\n':
			lines, at = append(lines, nil), 0
		case r == '\b':
			at--
		case columns(r) == 0:
			lines[last][at-1] += string(r)
		default:
			lines[last] = append(lines[last][:at], string(r))
			at++
		}
	}
	texts := make([]string, len(lines))
	for i, line := range lines {
		texts[i] = strings.TrimRight(strings.Join(line, ""), " ")
	}
	return texts
}

// Lines break between words, however the text comes.
func TestWrap(t *testing.T) {
	t.Parallel()

	for _, c := range []struct {
		text, indent string
		width        int
		want         []string
	}{
		{"The report of this week is ready.", "", 13, []string{"The report", "of this week", "is ready."}},
		{"The report\nis ready.\n\nGo on", "  ", 11, []string{"The report", "  is", "  ready.", "", "  Go on"}},
		{"a https://example.com/long b", "", 9, []string{"a", "https://", "example.", "com/long", "b"}},
		{"one  two three", "", 8, []string{"one", "two", "three"}},
		{"e\u0301te\u0301 e\u0301te\u0301", "", 5, []string{"e\u0301te\u0301", "e\u0301te\u0301"}},
		{"ready already", "", 0, []string{"ready already"}},
	} {
		for _, step := range []int{1, 2, 5, 100} {
			var w wrapper
			var written strings.Builder
			for text := []rune(c.text); len(text) > 0; text = text[min(step, len(text)):] {
				written.WriteString(w.add(string(text[:min(step, len(text))]), c.width, c.indent))
			}
			if diff := cmp.Diff(c.want, seen(written.String())); diff != "" {
				t.Errorf("%q in pieces of %d: -want +got\n%s", c.text, step, diff)
			}
		}
	}
}
