package query

import (
	"context"
	"fmt"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Collate sets the collation in which PostgreSQL orders the text of a list, and compares it
// for cursors and for filters with gt, gte, lt, lte and range. PostgreSQL reads an order from
// an index only if the index has the same collation. An ordinary index has that of its column:
// Collate("") uses it. Any other name is that of a collation of the database, such as
// "de-x-icu"; it must be deterministic, as all are unless they were created otherwise.
//
// A list in memory or in SQLite ignores the option, and orders text by its bytes.
//
// Defaults to "C", the order of bytes, for which an index is created with COLLATE "C".
func Collate(name string) Option { return collate{name} }

type collate struct{ name string }

// RestRoute marks the type as a route option.
func (collate) RestRoute(option.Seal) {}

// Compile implements [Option].
func (c collate) Compile(_ *driver.Model, place string) (stage.Stage, error) {
	if err := driver.CheckCollation(c.name); err != nil {
		return nil, fmt.Errorf("%s: query.Collate: %w", place, err)
	}
	return c, nil
}

// Params implements [stage.Stage].
func (collate) Params() []bind.Param { return nil }

// Columns implements [stage.Stage].
func (collate) Columns() []*driver.Column { return nil }

// Apply implements [stage.Stage].
func (c collate) Apply(_ context.Context, _ *bind.Input, l *driver.List) (*driver.List, []fault.Fault) {
	return l.Collate(c.name), nil
}

// Collation implements [stage.Collator].
func (c collate) Collation() string { return c.name }
