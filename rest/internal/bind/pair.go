package bind

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spoolhq/spool/rest/internal/fault"
)

// maxPairs is how many pairs of a query string are read. It bounds the memory that a request line can use.
const maxPairs = 10_000

// The kinds of faults that only parameters have.
const (
	// KindRepeated is a parameter that may be sent once and was sent more often.
	KindRepeated = "repeated"

	// KindEscape is a query string or form with a percent sign that no two hexadecimal
	// digits follow.
	KindEscape = "percent_encoding"

	// KindTooMany is a query string with more than maxPairs parameters.
	KindTooMany = "too_many_parameters"
)

// pair is one name=value of a query string or a form.
type pair struct {
	name string
	text string
	raw  string // the text as it was sent; empty when nothing in it was escaped
	bad  bool   // an escape is malformed: the text, or the name, is empty then
}

// cutPairs appends the pairs of a query string to dst. It reads them as [url.ParseQuery] does, with two
// exceptions: a malformed pair stays and is marked as bad, and a semicolon is an ordinary character unless
// semicolons are refused. Texts without escapes are slices of raw. cutPairs stops after limit pairs and then
// reports true.
func cutPairs(dst []pair, raw string, limit int, noSemicolons bool) ([]pair, bool) {
	plain := strings.IndexByte(raw, '%') < 0 && strings.IndexByte(raw, '+') < 0

	for raw != "" {
		var part string
		part, raw, _ = strings.Cut(raw, "&")
		if part == "" {
			continue
		}
		if len(dst) == limit {
			return dst, true
		}

		name, text, _ := strings.Cut(part, "=")
		switch {
		case noSemicolons && strings.IndexByte(part, ';') >= 0:
			dst = append(dst, pair{bad: true})
		case plain:
			dst = append(dst, pair{name: name, text: text})
		default:
			dst = append(dst, decodePair(name, text))
		}
	}

	return dst, false
}

func decodePair(rawName, rawText string) pair {
	name, err := url.QueryUnescape(rawName)
	if err != nil {
		return pair{bad: true}
	}

	text, err := url.QueryUnescape(rawText)
	if err != nil {
		return pair{name: name, bad: true}
	}

	if len(text) == len(rawText) && text == rawText {
		rawText = ""
	}

	return pair{name: name, text: text, raw: rawText}
}

// find returns the first pair with the name, and the number of such pairs.
func find(pairs []pair, name string) (first *pair, n int) {
	for i := range pairs {
		if pairs[i].name != name || pairs[i].nameless() {
			continue
		}
		if n == 0 {
			first = &pairs[i]
		}
		n++
	}

	return first, n
}

// nameless reports whether the pair's name could not be decoded. A parameter with the name "" must not find
// such a pair.
func (p *pair) nameless() bool { return p.bad && p.name == "" }

// pairFaults appends the faults of pairs that do not depend on their names.
func pairFaults(faults []fault.Fault, in string, pairs []pair, tooMany bool) []fault.Fault {
	for i := range pairs {
		if !pairs[i].bad || len(faults) >= maxFaults {
			continue
		}

		var path []any
		if !pairs[i].nameless() {
			path = []any{pairs[i].name}
		}
		faults = append(faults, fault.New(in, path, KindEscape,
			"must have two hexadecimal digits after each percent sign"))
	}

	if tooMany {
		faults = append(faults, fault.Limited(in, nil, KindTooMany,
			fmt.Sprintf("must have at most %d parameters", maxPairs), "max_parameters", maxPairs))
	}

	return faults
}

func repeated(in, name string) fault.Fault {
	return fault.New(in, []any{name}, KindRepeated, "must be given only once")
}

// placed returns the fault with its place.
func placed(bad *fault.Fault, in string, path ...any) fault.Fault {
	at := *bad
	at.In, at.Path = in, path

	return at
}

// unescape decodes a part of a text. The whole text was decoded without an error before.
func unescape(text string) string {
	decoded, err := url.QueryUnescape(text)
	if err != nil {
		return text // a comma never cuts an escape, so what decoded as a whole decodes in parts
	}

	return decoded
}
