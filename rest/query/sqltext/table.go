package sqltext

import (
	"strings"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Dialect is the database that the text is for.
type Dialect uint8

// The dialects.
const (
	Postgres Dialect = iota + 1
	SQLite
)

// Table says what the database calls a model and what belongs to it. All names are quoted by
// the adapter and come from the program.
type Table interface {
	// Source is the table as it stands after FROM.
	Source() string
	// Column returns the column of a field, and an error when it has none.
	Column(f *driver.Field) (Column, error)
	// Join says how the related rows are found, and an error when that cannot be said.
	Join(r *driver.Relation) (*Join, error)
	// Live are the conditions on rows that exist, when some are deleted softly. They are put
	// on related rows only: the adapter's library puts them on the table itself.
	Live() []Fixed
}

// Column is a column of a table.
type Column struct {
	// Name is the quoted name.
	Name string
	// Zoneless is true for a time column that PostgreSQL keeps without a time zone, which is
	// taken for UTC.
	Zoneless bool
}

// Zoneless reports whether a column that was declared with a type keeps times without a zone.
func Zoneless(declared string) bool {
	declared = strings.ToLower(declared)
	return declared == "date" || strings.HasPrefix(declared, "timestamp") &&
		!strings.HasPrefix(declared, "timestamptz") && !strings.HasSuffix(declared, "with time zone")
}

// Join leads from one table to another one.
type Join struct {
	// Target is the table of the related rows.
	Target Table
	// On are the columns that are equal in the base and in the target, or with Through in the
	// base and in the table between.
	On []Pair
	// Fixed are further conditions on the target, or with Through on the table between.
	Fixed []Fixed
	// Through is the table between, of a many to many relation, and nil otherwise.
	Through *Through
}

// Through is a table between two others.
type Through struct {
	// Source is the table as it stands after FROM.
	Source string
	// On are the columns that are equal in the table between and in the target.
	On []Pair
}

// Pair is a column of one table and the column of another one that is equal to it.
type Pair struct{ Left, Right string }

// Fixed is a column and the value that it has to have; nil is null.
type Fixed struct {
	Column string
	Value  any
}

// Clause is a piece of text with the parameters that its question marks stand for.
type Clause struct {
	Text string
	Args []any
}

// Statement is the pieces of a SELECT.
type Statement struct {
	// Joins are whole LEFT JOIN clauses.
	Joins []Clause
	// Where is the condition. An empty text is no condition.
	Where Clause
	// Order are the parts of ORDER BY.
	Order []Clause
}
