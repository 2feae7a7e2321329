package rest

// Tolerance is a kind of input that is refused by default and that an API may accept. It is
// for an API whose clients are older than its controllers.
type Tolerance uint8

const (
	// AnyContentType reads a body as JSON whatever its Content-Type says. This is a risk: a
	// web page can make a browser send such a body to any server. Only for a body declared as
	// JSON does the browser ask the server first.
	AnyContentType Tolerance = 1 << iota
	// LooseValues reads body values as encoding/json does. Null means an absent field. Invalid
	// Unicode becomes U+FFFD, and a text may have NUL characters. An integer still must not
	// have a fraction or an exponent.
	LooseValues
	// AbsentFields accepts an object without its required fields. They have their zero values,
	// and the program has to check the fields that it needs.
	AbsentFields
	// LooseParameters takes the first value if a query parameter, header or form field is
	// repeated and one value is wanted. An empty value counts as absent. Invalid text becomes U+FFFD. A query
	// parameter with a semicolon is malformed, as in net/url.
	LooseParameters
	// BrokenQuery ignores malformed query parameters instead of refusing them.
	BrokenQuery

	tolerates // set by [Tolerate], so that an empty set is not zero
)

// Tolerate sets which input the API accepts although it is refused by default. Without
// arguments, Tolerate removes the inherited tolerances.
//
// Two mistakes are always refused, because they would let a value bypass a check: a key that
// occurs twice in an object, also in JSON that the program decodes itself, and a key that
// differs from a known one only in upper and lower case.
func Tolerate(all ...Tolerance) Option {
	set := tolerates
	for _, t := range all {
		set |= t
	}
	return levelOption(func(l *level) { l.tolerance = set })
}

func (l *level) tolerates(t Tolerance) bool { return l.tolerance&t != 0 }
