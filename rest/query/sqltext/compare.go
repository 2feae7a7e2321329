package sqltext

import (
	sqldriver "database/sql/driver"
	"encoding"
	"fmt"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/query/driver"
)

// compare returns the comparison of a column that is already joined.
func (w *writer) compare(t *driver.Test, column string, zoneless bool) Clause {
	if t.Lookup == driver.IsNull {
		if t.Values[0] == true {
			return text("%s IS NULL", column)
		}
		return text("%s IS NOT NULL", column)
	}
	if s, ok := t.Values[0].(string); ok && t.Column.Field.Kind == driver.String {
		if c, ok := w.search(t.Lookup, column, s); ok {
			return c
		}
		column = w.collated(column, t.Lookup)
	}
	if t.Part != driver.Whole {
		column = w.part(t.Part, column, zoneless)
	}
	values := make([]Clause, len(t.Values))
	for i, v := range t.Values {
		values[i] = w.value(v)
	}
	switch t.Lookup {
	case driver.In:
		return wrap(text("%s IN (", column), between(", ", values), text(")"))
	case driver.Range:
		return wrap(text("%s BETWEEN ", column), values[0], text(" AND "), values[1])
	default:
		return wrap(text("%s %s ", column, operators[t.Lookup]), values[0])
	}
}

var operators = map[driver.Lookup]string{
	driver.Exact: "=", driver.NotEqual: "<>", driver.Greater: ">", driver.GreaterOrEqual: ">=", driver.Less: "<",
	driver.LessOrEqual: "<=",
}

// collate returns what PostgreSQL needs after a column of text to use the plan's collation.
func collate(name *string) string {
	switch {
	case name == nil:
		return ` COLLATE "C"`
	case *name == "":
		return ""
	default:
		return ` COLLATE "` + *name + `"`
	}
}

// collated returns a text column that is compared in the plan's collation, and in SQLite by
// its bytes. In PostgreSQL, equality compares bytes under every deterministic collation, so the
// column's own collation stays and its index can be used.
func (w *writer) collated(column string, l driver.Lookup) string {
	switch {
	case w.dialect == SQLite:
		return column + " COLLATE BINARY"
	case l == driver.Exact || l == driver.NotEqual || l == driver.In:
		return column
	default:
		return column + w.collate
	}
}

// value returns one parameter. Without a cast, PostgreSQL would give an int64 the type of the
// column, and refuse a number that the column cannot hold.
func (w *writer) value(v any) Clause {
	switch v := v.(type) {
	case int64:
		if w.dialect == Postgres {
			return Clause{Text: "CAST(? AS bigint)", Args: []any{v}}
		}
	case uint64:
		return Clause{Text: "CAST(? AS numeric)", Args: []any{strconv.FormatUint(v, 10)}}
	case sqldriver.Valuer:
	case encoding.TextMarshaler:
		if _, ok := any(v).(interface{ Zone() (string, int) }); ok {
			break // a time: drivers handle it
		}
		if s, err := v.MarshalText(); err == nil {
			return Clause{Text: "?", Args: []any{string(s)}}
		}
	}
	return Clause{Text: "?", Args: []any{v}}
}

// digits are the positions of the parts of a time in SQLite's text, counted from 1.
var digits = map[driver.Part]int{driver.Month: 6, driver.Day: 9, driver.Hour: 12, driver.Minute: 15, driver.Second: 18}

func (w *writer) part(p driver.Part, column string, zoneless bool) string {
	if w.dialect == SQLite {
		if p == driver.WeekDay {
			return fmt.Sprintf("(CAST(strftime('%%w', substr(%s, 1, 10)) AS integer) + 1)", column)
		}
		return fmt.Sprintf("CAST(substr(%s, %d, 2) AS integer)", column, digits[p])
	}
	if !zoneless {
		column += " AT TIME ZONE 'UTC'"
	}
	switch p {
	case driver.WeekDay:
		return fmt.Sprintf("(CAST(EXTRACT(DOW FROM %s) AS integer) + 1)", column)
	case driver.Second:
		return fmt.Sprintf("CAST(FLOOR(EXTRACT(SECOND FROM %s)) AS integer)", column)
	default:
		return fmt.Sprintf("CAST(EXTRACT(%s FROM %s) AS integer)", strings.ToUpper(string(p)), column)
	}
}

// order returns one part of ORDER BY. For SQLite, null is the smallest value by default.
// PostgreSQL gets NULLS FIRST or LAST only if there can be nulls, because its indexes put
// nulls last.
func (w *writer) order(s *scope, key driver.Key) (Clause, error) {
	at, alias := s.table, s.alias
	for _, step := range key.Column.Steps {
		j, err := w.join(s, at, alias, step)
		if err != nil {
			return Clause{}, err
		}
		at, alias = j.table, j.alias
	}
	column, err := at.Column(key.Column.Field)
	if err != nil {
		return Clause{}, err
	}
	name := alias + "." + column.Name
	if key.Column.Field.Kind == driver.String {
		name = w.collated(name, driver.Greater)
	}
	direction, nulls := " ASC", " NULLS FIRST"
	if key.Desc {
		direction, nulls = " DESC", " NULLS LAST"
	}
	if w.dialect == SQLite || !key.Column.Nullable() {
		nulls = ""
	}
	return text("%s", name+direction+nulls), nil
}
