package pgtest

import (
	"context"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed state.sql
var stateQuery string

// state is everything that a test can leave in a database.
type state struct {
	// lines are those of state.sql, and of the rows of tables that the template has filled.
	lines []string
	// sizes are those of the template's tables with their indexes, and filled has the tables with rows.
	sizes  map[string]int64
	filled []string
}

// readState reads the state of a new database of a template.
func readState(ctx context.Context, conn *pgx.Conn) (*state, error) {
	s := &state{sizes: make(map[string]int64)}
	found, err := tableSizes(ctx, conn)
	if err != nil {
		return nil, err
	}
	for table, size := range found {
		s.sizes[table] = size
		rows := false
		if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM "+table+")").Scan(&rows); err != nil {
			return nil, err
		}
		if rows {
			s.filled = append(s.filled, table)
		}
	}
	slices.Sort(s.filled)
	s.lines, err = stateLines(ctx, conn, s.filled)
	return s, err
}

// tableSizes returns the tables that have files, each with the bytes of its rows and indexes.
func tableSizes(ctx context.Context, conn *pgx.Conn) (map[string]int64, error) {
	rows, err := conn.Query(ctx, `SELECT format('%I.%I', nspname, relname), pg_total_relation_size(c.oid)
		FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
		WHERE relkind = 'r' AND nspname !~ '^pg_' AND nspname <> 'information_schema'`)
	if err != nil {
		return nil, err
	}
	sizes := make(map[string]int64)
	var table string
	var size int64
	_, err = pgx.ForEachRow(rows, []any{&table, &size}, func() error {
		sizes[table] = size
		return nil
	})
	return sizes, err
}

// stateLines describes a database, with the rows of some tables.
func stateLines(ctx context.Context, conn *pgx.Conn, filled []string) (lines []string, err error) {
	queries := []string{stateQuery}
	for _, table := range filled {
		queries = append(queries, fmt.Sprintf("SELECT format('row of %s: %%s', t) FROM %[1]s t ORDER BY 1", table))
	}
	for _, query := range queries {
		rows, err := conn.Query(ctx, query)
		if err != nil {
			return nil, err
		}
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return nil, err
		}
		lines = append(lines, found...)
	}
	return lines, nil
}

// reset empties the tables that a test has filled, removes those that it has made, and begins sequences anew. It
// fails unless the database is then as the template was.
func (s *state) reset(ctx context.Context, conn *pgx.Conn) error {
	found, err := tableSizes(ctx, conn)
	if err != nil {
		return err
	}
	var used, made []string
	for table, size := range found {
		switch want, known := s.sizes[table]; {
		case !known:
			made = append(made, table)
		case size != want:
			used = append(used, table)
		}
	}
	statements := []string{
		`SELECT setval(format('%I.%I', schemaname, sequencename)::regclass, start_value, false)
			FROM pg_sequences WHERE last_value IS NOT NULL`,
		"SELECT pg_stat_reset()",
	}
	if len(made) > 0 {
		statements = append(statements, "DROP TABLE IF EXISTS "+strings.Join(made, ", ")+" CASCADE")
	}
	if len(used) > 0 {
		statements = append(statements, "TRUNCATE "+strings.Join(used, ", ")+" RESTART IDENTITY CASCADE")
	}
	if err := conn.PgConn().Exec(ctx, strings.Join(statements, "; ")).Close(); err != nil {
		return err
	}
	lines, err := stateLines(ctx, conn, s.filled)
	if err != nil {
		return err
	}
	return s.compare(lines)
}

// compare returns an error that has the first lines in which a database differs from the template.
func (s *state) compare(lines []string) error {
	const most = 5
	var differs []string
	add := func(sign string, from, without []string) {
		for _, line := range from {
			if len(differs) < most && !slices.Contains(without, line) {
				differs = append(differs, sign+line)
			}
		}
	}
	if !slices.Equal(s.lines, lines) {
		add("- ", s.lines, lines)
		add("+ ", lines, s.lines)
		return fmt.Errorf("it differs from a new one:\n%s", strings.Join(differs, "\n"))
	}
	return nil
}
