package sqltext

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/spoolhq/spool/rest/internal/option"
	"github.com/spoolhq/spool/rest/internal/stage"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// Check returns an error if an option needs something that the model's table does not have.
// The error begins with place. Options other than those of package query and a page.Cursor
// need nothing.
func Check[O option.Route](place string, t Table, m *driver.Model, options []O) error {
	need, err := needsOf(place, m, options)
	if err != nil {
		return err
	}
	for _, c := range need.columns {
		if err := reach(t, c); err != nil {
			return fmt.Errorf("%s: %s: %w", place, c.Path(), err)
		}
	}
	return nil
}

// needs is what the options of a list need of its table.
type needs struct {
	columns   []*driver.Column
	leading   []driver.Key // with which an order may begin
	collation *string
}

func needsOf[O option.Route](place string, m *driver.Model, options []O) (need needs, err error) {
	for _, o := range options {
		switch o := any(o).(type) {
		case query.Option:
			compiled, err := o.Compile(m, place)
			if err != nil {
				return need, err
			}
			need.columns = append(need.columns, compiled.Columns()...)
			if s, ok := compiled.(stage.Sorter); ok {
				need.leading = append(need.leading, s.Leading()...)
			}
			if s, ok := compiled.(stage.Collator); ok {
				name := s.Collation()
				need.collation = &name
			}
		case interface{ CursorOrder() []driver.Sort }:
			for i, sort := range o.CursorOrder() {
				key, err := m.SortKey(sort)
				if err != nil {
					return need, fmt.Errorf("%s: page.Cursor: %w", place, err)
				}
				need.columns = append(need.columns, key.Column)
				if i == 0 {
					need.leading = append(need.leading, key)
				}
			}
		}
	}
	return need, nil
}

// reach returns an error if the column cannot be reached from the table.
func reach(at Table, c *driver.Column) error {
	for _, step := range c.Steps {
		j, err := at.Join(step)
		if err != nil {
			return err
		}
		at = j.Target
	}
	if c.Field == nil {
		return nil
	}
	_, err := at.Column(c.Field)
	return err
}

// WarnUnindexed logs a warning, with the statement that creates the index, for each column of
// text that may lead an order and has no index in PostgreSQL that the order can be read from.
// It tells nothing about columns of related tables. The options must have passed [Check]. rows
// runs a query in the database; its parameters are question marks. If the query fails,
// WarnUnindexed logs that.
func WarnUnindexed[O option.Route](
	place string, t Table, m *driver.Model, options []O, rows func(
		ctx context.Context, query string, args ...any,
	) (*sql.Rows, error),
) {
	need, err := needsOf(place, m, options)
	need.leading = slices.DeleteFunc(need.leading, func(k driver.Key) bool {
		return len(k.Column.Steps) > 0 || k.Column.Field.Kind != driver.String
	})
	if err != nil || len(need.leading) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), readTimeout)
	defer cancel()
	columns, err := readIndexes(ctx, t.Source(), rows)
	if err != nil {
		slog.WarnContext(ctx, place+": the indexes of the table could not be read", "table", t.Source(), "err", err)
		return
	}
	warned := map[string]bool{}
	for _, key := range need.leading {
		column, err := t.Column(key.Column.Field)
		name := strings.ReplaceAll(strings.Trim(column.Name, `"`), `""`, `"`)
		indexes, known := columns[name]
		if err != nil || !known || warned[name] ||
			slices.ContainsFunc(indexes, func(i index) bool { return i.serves(key, need.collation) }) {
			continue
		}
		warned[name] = true
		slog.WarnContext(ctx, place+": PostgreSQL reads the whole table for each page in this order",
			"order", key.Column.Field.Name, "missing", createIndex(t, m, key, column.Name, need.collation))
	}
}

// readTimeout bounds the wait for a database that does not answer.
const readTimeout = 5 * time.Second

// index is an index of PostgreSQL, as far as an order can be read from its first column.
type index struct {
	collation string
	own       bool // the collation is that of the column
	flags     int  // 1 for DESC, 2 for NULLS FIRST
}

// serves reports whether an order that begins with key can be read from the index, forwards or
// backwards.
func (i index) serves(key driver.Key, collation *string) bool {
	switch {
	case collation == nil && i.collation != "C",
		collation != nil && *collation == "" && !i.own,
		collation != nil && *collation != "" && i.collation != *collation:
		return false
	case key.Column.Nullable():
		return i.flags == 1 || i.flags == 2
	default:
		return i.flags == 0 || i.flags == 3
	}
}

// readIndexes returns the indexes that begin with a column, for each column of a table. It
// returns nothing if the table does not exist or is a view.
func readIndexes(
	ctx context.Context, table string, rows func(context.Context, string, ...any) (*sql.Rows, error),
) (map[string][]index, error) {
	found, err := rows(ctx, indexQuery, table)
	if err != nil || found == nil {
		return nil, err
	}
	defer func() { _ = found.Close() }()
	columns := map[string][]index{}
	for found.Next() {
		var (
			column string
			i      index
		)
		if err := found.Scan(&column, &i.collation, &i.own, &i.flags); err != nil {
			return nil, err
		}
		columns[column] = append(columns[column], i)
	}
	return columns, found.Err()
}

// indexQuery has a row for each column and each index that begins with it. The flags of a
// column without an index are -1.
const indexQuery = `SELECT a.attname, COALESCE(k.collname, ''), COALESCE(i.indcollation[0] = a.attcollation, FALSE), COALESCE(i.indoption[0], -1)
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind IN ('r', 'p')
LEFT JOIN (pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam AND m.amname = 'btree'
	JOIN pg_opclass o ON o.oid = i.indclass[0] AND o.opcdefault)
ON i.indrelid = c.oid AND i.indkey[0] = a.attnum AND i.indisvalid AND i.indpred IS NULL
LEFT JOIN pg_collation k ON k.oid = i.indcollation[0]
WHERE a.attrelid = to_regclass(CAST(? AS text)) AND a.attnum > 0`

// createIndex returns the statement for an index from which an order that begins with key can
// be read.
func createIndex(t Table, m *driver.Model, key driver.Key, column string, collation *string) string {
	parts := []string{column + collate(collation)}
	if key.Column.Nullable() {
		parts[0] += " NULLS FIRST"
	}
	for _, f := range m.Key() {
		if c, err := t.Column(f); err == nil && f != key.Column.Field {
			parts = append(parts, c.Name)
		}
	}
	return "CREATE INDEX CONCURRENTLY ON " + t.Source() + " (" + strings.Join(parts, ", ") + ")"
}
