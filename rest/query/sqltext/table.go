package sqltext

import (
	"strings"

	"github.com/spoolhq/spool/rest/query/driver"
)

// Dialect is the database that the SQL is for.
type Dialect uint8

// The dialects.
const (
	Postgres Dialect = iota + 1
	SQLite
)

// Table describes the table of a model. All names come from the program, and the adapter has
// quoted them.
type Table interface {
	// Source returns the table as it is written after FROM.
	Source() string
	// Column returns the column of a field, or an error if it has none.
	Column(f *driver.Field) (Column, error)
	// Join returns how the related rows are found, or an error if that is not possible.
	Join(r *driver.Relation) (*Join, error)
	// Live returns the conditions on rows that are not softly deleted. They are used only for
	// related rows; the adapter's library adds them for the table itself.
	Live() []Fixed
}

// Column is a column of a table.
type Column struct {
	// Name is the quoted name.
	Name string
	// Zoneless is true for a time column without a time zone in PostgreSQL. Its times are read
	// as UTC.
	Zoneless bool
}

// Zoneless reports whether a column declared with this type stores times without a zone.
func Zoneless(declared string) bool {
	declared = strings.ToLower(declared)
	return declared == "date" || strings.HasPrefix(declared, "timestamp") &&
		!strings.HasPrefix(declared, "timestamptz") && !strings.HasSuffix(declared, "with time zone")
}

// Join describes how one table is joined to another.
type Join struct {
	// Target is the table of the related rows.
	Target Table
	// On are the equal columns of the base and the target. With Through, they are those of the
	// base and the table between.
	On []Pair
	// Fixed are further conditions on the target. With Through, they are on the table between.
	Fixed []Fixed
	// Through is the table between the two of a many-to-many relation. It is nil otherwise.
	Through *Through
}

// Through is the table between the two tables of a relation.
type Through struct {
	// Source is the table as it is written after FROM.
	Source string
	// On are the equal columns of the table between and the target.
	On []Pair
}

// Pair is a column of one table and the equal column of another.
type Pair struct{ Left, Right string }

// Fixed is a column and its required value; nil means null.
type Fixed struct {
	Column string
	Value  any
}

// Clause is a piece of SQL and the parameters for its question marks.
type Clause struct {
	Text string
	Args []any
}

// Statement has the parts of a SELECT.
type Statement struct {
	// Joins are whole LEFT JOIN clauses.
	Joins []Clause
	// Where is the condition. An empty text means no condition.
	Where Clause
	// Order are the parts of ORDER BY.
	Order []Clause
}
