package body

import (
	"reflect"
	"regexp"

	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/textform"
)

type kind uint8

const (
	kindAny     kind = iota
	kindBool         // true or false
	kindInt          // an integer for a signed Go integer of node.bits
	kindUint         // an integer for an unsigned Go integer of node.bits
	kindInteger      // an integer for something else
	kindFloat        // a number for a Go float of node.bits
	kindNumber       // a number for something else
	kindString       // text
	kindBytes        // base64 for a []byte
	kindList         // an array
	kindObject       // an object with known keys
	kindDict         // an object for a map
)

// node has the rules of one place of a document. Nodes of recursive types are circular. A node does not
// change after Compile.
type node struct {
	kind     kind
	null     bool // null is a value here
	use      use  // how a kindAny value is used
	bits     int
	class    string
	number   *numberRule
	text     *textRule
	flags    []bool // allowed values of a kindBool, empty for both
	list     *listRule
	object   *object
	dict     *dictRule
	validate func(raw []byte) []fault.Fault

	// typ is the Go type without pointers and without Opt, nil when nothing is known.
	typ reflect.Type
	// wraps are the pointers and Opts between the declared type and typ.
	wraps []wrap
	// direct means that values are stored without the codec.
	direct bool
	// form is the form in which the value is written as text, if the type alone does not decide it.
	form textform.Form
	// foreign means that decoding runs an Unmarshal method of the type, which may refuse.
	foreign bool
}

// numberRule is the rule for a number.
type numberRule struct {
	limits    []numberLimit
	enum      []float64
	enumFault fault.Fault
}

// numberLimit is a limit with the fault of a number that breaks it, without the place.
type numberLimit struct {
	limit  float64
	broken func(value, limit float64) bool
	fault  fault.Fault
}

// textRule is the rule for a string. Its faults have no place yet.
type textRule struct {
	minLength, maxLength int // -1 for none
	pattern              *regexp.Regexp
	format               func(string) bool
	enum                 []string

	minFault, maxFault, patternFault, formatFault, enumFault fault.Fault
}

// wrap is a pointer to typ, or the Opt that typ is.
type wrap struct {
	typ      reflect.Type
	optional bool
}

type listRule struct {
	items    *node
	min, max int // -1 for none
	unique   bool
	empty    reflect.Value // the slice without items
}

type dictRule struct {
	values   *node
	min, max int // -1 for none
	key      reflect.Type
	keyKind  reflect.Kind // reflect.String, or an integer kind, or Invalid for text of a program's own
}

// object has the rules of an object with named keys.
type object struct {
	props    []property
	index    map[string]int // of each name in props
	folded   map[string]int // the same without upper and lower case
	words    int            // of a bit set with a bit for each of props
	required []uint64
	defaults []int
	depends  []dependency
	closed   bool
	values   *node // of other keys, or nil
	min, max int   // -1 for none
}

type property struct {
	name     string
	boxed    any // name, as a part of a path
	node     *node
	typ      reflect.Type
	hops     []hop // to the Go field
	nullOK   bool
	readOnly bool
	blocked  bool // there is a Go field, but no property of the schema
	filler   *filler
}

// hop leads to a field and, if elem is set, on to the value that the field points to.
type hop struct {
	offset uintptr
	elem   reflect.Type
}

// dependency says that one property asks for others.
type dependency struct {
	of   int
	asks []int
}
