package rest

// Tolerance is a kind of input that an API takes although rest refuses it by default. It is for an
// API whose clients are older than its controllers.
type Tolerance uint8

const (
	// AnyContentType reads a body as JSON whatever its Content-Type says. Keep in mind that a web
	// page can have a browser send such a body to any server, and only a body that is declared
	// as JSON asks the server before.
	AnyContentType Tolerance = 1 << iota
	// LooseValues reads the values of bodies as encoding/json does. A null stands for an absent
	// field. U+FFFD stands for what is no Unicode, and a text may have NUL characters. JSON that
	// the program decodes itself may have repeated keys. An integer has neither a fraction nor an
	// exponent.
	LooseValues
	// AbsentFields takes an object without the fields that it has to have. They have their zero
	// values, and the program checks what it needs of them.
	AbsentFields
	// LooseParameters takes the first of several parameters of the query or headers with the same
	// name where one is wanted. An empty one is absent. U+FFFD stands for what is no text. A
	// parameter with a semicolon is malformed, as net/url has it.
	LooseParameters
	// BrokenQuery ignores malformed parameters of the query in place of refusing them.
	BrokenQuery

	tolerates // says that something was said
)

// Tolerate sets which input the API takes although rest refuses it by default. Without arguments it
// removes what the level would inherit.
//
// Two mistakes are always refused, because they let a value past a check: a key that an object has
// twice, and a key that differs from a known one only in upper and lower case.
func Tolerate(all ...Tolerance) Option {
	set := tolerates
	for _, t := range all {
		set |= t
	}
	return levelOption(func(l *level) { l.tolerance = set })
}

func (l *level) tolerates(t Tolerance) bool { return l.tolerance&t != 0 }
