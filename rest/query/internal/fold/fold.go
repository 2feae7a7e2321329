// Package fold says which letters are the same when case is ignored: those of one orbit of
// Unicode's simple folding, except that an ASCII letter is the same as an ASCII letter only.
// The exception lets a database that folds ASCII serve ASCII text.
package fold

import (
	"strings"
	"unicode"
)

// String replaces each letter of s by the one that stands for its orbit. Two texts are the
// same without regard to case when their results are equal.
func String(s string) string {
	if !needed(s) {
		return s
	}
	return strings.Map(Rune, s)
}

// Rune returns the letter that stands for the orbit of r.
func Rune(r rune) rune {
	if r <= unicode.MaxASCII {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}
	least := r
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		if o > unicode.MaxASCII && o < least {
			least = o
		}
	}
	return least
}

// Orbit returns r and the letters that are the same.
func Orbit(r rune) []rune {
	orbit := []rune{r}
	for o := unicode.SimpleFold(r); o != r; o = unicode.SimpleFold(o) {
		if (o > unicode.MaxASCII) == (r > unicode.MaxASCII) {
			orbit = append(orbit, o)
		}
	}
	return orbit
}

func needed(s string) bool {
	for i := range len(s) {
		if c := s[i]; c >= 0x80 || 'A' <= c && c <= 'Z' {
			return true
		}
	}
	return false
}
