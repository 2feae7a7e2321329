package sqltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/internal/fold"
)

// search returns the comparison for a lookup on text, and false for any other lookup.
//
// Databases ignore case in different ways: by their locale, or in SQLite only for ASCII. So
// each letter of the value becomes the set of its equal letters, in a pattern that is compared
// exactly.
func (w *writer) search(l driver.Lookup, column, value string) (Clause, bool) {
	switch l {
	case driver.IExact:
		return w.folded(column, "", value, ""), true
	case driver.IContains:
		return w.folded(column, "*", value, "*"), true
	case driver.IStartsWith:
		return w.folded(column, "", value, "*"), true
	case driver.IEndsWith:
		return w.folded(column, "*", value, ""), true
	case driver.Regex, driver.IRegex:
		return w.regex(l, column, value), true
	}
	if w.dialect == SQLite {
		return exactPart(l, column, value)
	}
	switch l {
	case driver.Contains:
		value = "%" + like.Replace(value) + "%"
	case driver.StartsWith:
		value = like.Replace(value) + "%"
	case driver.EndsWith:
		value = "%" + like.Replace(value)
	default:
		return Clause{}, false
	}
	return Clause{Text: column + " LIKE ?", Args: []any{value}}, true
}

var like = strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`)

// exactPart searches in SQLite without LIKE, because LIKE ignores the case of ASCII there.
func exactPart(l driver.Lookup, column, value string) (Clause, bool) {
	n := utf8.RuneCountInString(value)
	switch {
	case l == driver.Contains:
		return Clause{Text: "instr(" + column + ", ?) > 0", Args: []any{value}}, true
	case l == driver.StartsWith:
		return Clause{Text: "substr(" + column + ", 1, ?) COLLATE BINARY = ?", Args: []any{n, value}}, true
	case l == driver.EndsWith && n == 0:
		return Clause{Text: column + " = " + column}, true
	case l == driver.EndsWith:
		return Clause{Text: "substr(" + column + ", ?) COLLATE BINARY = ?", Args: []any{-n, value}}, true
	default:
		return Clause{}, false
	}
}

func (w *writer) regex(l driver.Lookup, column, value string) Clause {
	operator := " ~ ?"
	switch {
	case w.dialect == SQLite && l == driver.IRegex:
		operator, value = " REGEXP ?", "(?i)"+value
	case w.dialect == SQLite:
		operator = " REGEXP ?"
	case l == driver.IRegex:
		operator = " ~* ?"
	}
	return Clause{Text: column + operator, Args: []any{value}}
}

// folded compares without case. If before or after is a star, any text may be there.
func (w *writer) folded(column, before, value, after string) Clause {
	switch {
	case w.dialect == SQLite:
		return Clause{Text: column + " GLOB ?", Args: []any{before + glob(value) + after}}
	case ascii(value):
		// An ASCII letter equals only ASCII letters, and this collation treats it so.
		pattern := strings.ReplaceAll(before, "*", "%") + like.Replace(value) + strings.ReplaceAll(after, "*", "%")
		return Clause{Text: column + ` COLLATE "C" ILIKE ?`, Args: []any{pattern}}
	}
	var b strings.Builder
	if before == "" {
		b.WriteString("^")
	}
	for _, r := range value {
		switch orbit := fold.Orbit(r); {
		case len(orbit) > 1:
			b.WriteString("[" + string(orbit) + "]")
		case r <= unicode.MaxASCII && !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteString(`\` + string(r))
		default:
			b.WriteRune(r)
		}
	}
	if after == "" {
		b.WriteString("$")
	}
	return Clause{Text: column + ` COLLATE "C" ~ ?`, Args: []any{b.String()}}
}

// glob returns a pattern for SQLite's GLOB, which is always case-sensitive, whatever the
// PRAGMAs.
func glob(value string) string {
	var b strings.Builder
	for _, r := range value {
		switch orbit := fold.Orbit(r); {
		case len(orbit) > 1:
			b.WriteString("[" + string(orbit) + "]")
		case r == '*' || r == '?' || r == '[':
			b.WriteString("[" + string(r) + "]")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
