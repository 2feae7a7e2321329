package bind

import (
	"strings"
	"unicode"
)

// SnakeCase returns the name of a Go field as a parameter: ID is "id", AuthorID is "author_id", HTTPServer is
// "http_server", IDs is "ids", Line2 is "line2".
func SnakeCase(name string) string {
	runes := []rune(name)

	var b strings.Builder
	for i, r := range runes {
		if i > 0 && startsWord(runes, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}

	return b.String()
}

// startsWord reports whether a new word starts at the i-th character, which is not the
// first: an upper case letter after something else, or the last of several before a lower
// case one, unless that is the s of a plural.
func startsWord(runes []rune, i int) bool {
	switch before := runes[i-1]; {
	case !unicode.IsUpper(runes[i]) || before == '_':
		return false
	case !unicode.IsUpper(before):
		return true
	}

	rest := runes[i+1:]
	plural := len(rest) > 0 && rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))

	return len(rest) > 0 && unicode.IsLower(rest[0]) && !plural
}
