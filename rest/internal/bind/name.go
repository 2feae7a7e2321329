package bind

import (
	"strings"
	"unicode"
)

// SnakeCase is the name of a Go field as a parameter: ID is "id", AuthorID is "author_id",
// HTTPServer is "http_server", Line2 is "line2".
func SnakeCase(name string) string {
	runes := []rune(name)

	var b strings.Builder
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && runes[i-1] != '_' {
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !unicode.IsUpper(runes[i-1]) || after {
				b.WriteByte('_')
			}
		}
		b.WriteRune(unicode.ToLower(r))
	}

	return b.String()
}
