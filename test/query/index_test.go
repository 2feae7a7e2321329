package query

import (
	"bytes"
	"context"
	"database/sql"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"gorm.io/driver/postgres"
	"gorm.io/gorm"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/gormquery"
	pages "github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/querytest"
)

// library reads the books through one of the adapters, over a PostgreSQL that reads an index
// wherever it can.
type library struct {
	db    *sql.DB
	books query.Set[querytest.Book]
	check func(options ...rest.RouteOption) error
	last  func() string // the last statement that the adapter has sent
}

// lastQuery is a hook of bun.
type lastQuery struct{ text string }

func (*lastQuery) BeforeQuery(ctx context.Context, _ *bun.QueryEvent) context.Context { return ctx }

func (l *lastQuery) AfterQuery(_ context.Context, event *bun.QueryEvent) { l.text = event.Query }

func libraries(t *testing.T) map[string]library {
	t.Helper()

	const settings = "&enable_seqscan=off&enable_bitmapscan=off&enable_sort=off&jit=off"
	hook := &lastQuery{}
	b := openBun(t, "pgx", postgresURL(t)+settings, pgdialect.New())
	fillBun(t, b, querytest.Shelf())
	b = b.WithQueryHook(hook)

	var text string
	g := openGorm(t, postgres.Open(postgresURL(t)+settings))
	fillGorm(t, g, querytest.Shelf())
	conn, err := g.DB()
	if err != nil {
		t.Fatal(err)
	}
	err = g.Callback().Query().After("gorm:query").Register("last", func(tx *gorm.DB) {
		text = tx.Explain(tx.Statement.SQL.String(), tx.Statement.Vars...)
	})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]library{
		"bun": {
			b.DB, bunquery.Set[querytest.Book](b),
			func(options ...rest.RouteOption) error { return bunquery.Check[querytest.Book](b, options...) },
			func() string { return hook.text },
		},
		"gorm": {
			conn, gormquery.Set[querytest.Book](g),
			func(options ...rest.RouteOption) error { return gormquery.Check[querytest.Book](g, options...) },
			func() string { return text },
		},
	}
}

func (l library) exec(t *testing.T, statement string) {
	t.Helper()

	if _, err := l.db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

// plan returns PostgreSQL's plan of the last statement.
func (l library) plan(t *testing.T) string {
	t.Helper()

	rows, err := l.db.QueryContext(t.Context(), "EXPLAIN "+l.last())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var lines []string
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

var indexes = []struct {
	name, index string
	order       string
	collation   *string
	served      bool
}{
	{"Default", `title COLLATE "C", id`, "title", nil, true},
	{"Descending", `title COLLATE "C", id`, "-title", nil, true},
	{"Ordinary", `title, id`, "title", nil, false},
	{"OfTheColumn", `title, id`, "title", new(""), true},
	{"NotOfTheColumn", `title COLLATE "C", id`, "title", new(""), false},
	{"Named", `title COLLATE "de-x-icu", id`, "title", new("de-x-icu"), true},
	{"OtherName", `title COLLATE "fr-x-icu", id`, "title", new("de-x-icu"), false},
	{"Null", `subtitle COLLATE "C" NULLS FIRST, id`, "subtitle", nil, true},
	{"NullLast", `subtitle COLLATE "C", id`, "subtitle", nil, false},
}

// The statements of docs/rest/lists.md make the indexes that the page promises.
func TestIndexesOfPage(t *testing.T) {
	t.Parallel()

	page, err := os.ReadFile("../../docs/rest/lists.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(page), "\n```sql\n")
	statements, _, found := strings.Cut(block, "\n```\n")
	if !found {
		t.Fatal("the page has no statements")
	}
	l := libraries(t)["bun"]
	for statement := range strings.SplitSeq(statements, "\n") {
		l.exec(t, statement)
	}
	for _, order := range []string{"title", "subtitle"} {
		walk(t, l.books.OrderBy(order).List().Stable())
		if plan := l.plan(t); !strings.Contains(plan, "books_"+order+"_id_idx") || strings.Contains(plan, "Sort") {
			t.Errorf("the order by %s does not read its index:\n%s", order, plan)
		}
	}
}

// TestIndexOfText reads the second page of a list by a column of text. PostgreSQL reads it from
// an index in the collation of the list, and sorts the whole table without one.
func TestIndexOfText(t *testing.T) { //nolint:tparallel // each case creates its index in the same table
	t.Parallel()

	for name, l := range libraries(t) { //nolint:paralleltest // see above
		for _, test := range indexes {
			t.Run(name+test.name, func(t *testing.T) {
				l.exec(t, "CREATE INDEX books_in_order ON books ("+test.index+")")
				t.Cleanup(func() { l.exec(t, "DROP INDEX IF EXISTS books_in_order") })
				list := l.books.OrderBy(test.order)
				if test.collation != nil {
					list = list.Collate(*test.collation)
				}
				walk(t, list.List().Stable())
				plan := l.plan(t)
				if served := strings.Contains(plan, "books_in_order") && !strings.Contains(plan, "Sort"); served != test.served {
					t.Errorf("the page is read from the index: %t, want %t\n%s\n%s", served, test.served, l.last(), plan)
				}
				if test.served && test.order == "title" && !strings.Contains(plan, "Index Cond: (") {
					t.Error("the page begins at the start of the index\n", plan)
				}
			})
		}
	}
}

// walk reads the list in pages of two, and fails if they differ from the list.
func walk(t *testing.T, list *driver.List) {
	t.Helper()

	all, n, err := list.Fetch(t.Context(), 0, -1)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := all.([]querytest.Book)
	var got []querytest.Book
	for part := list; len(got) < n; {
		items, found, err := part.Fetch(t.Context(), 0, 2)
		if err != nil || found == 0 {
			t.Fatal("the pages end early", err)
		}
		books, _ := items.([]querytest.Book)
		got = append(got, books...)
		position, err := list.Position(items, found-1)
		if err != nil {
			t.Fatal(err)
		}
		if part, err = list.After(position); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestCheckWarns replaces the default logger, so no other test runs at the same time.
func TestCheckWarns(t *testing.T) { //nolint:paralleltest // see above
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	t.Cleanup(func() { slog.SetDefault(before) })

	for name, l := range libraries(t) {
		warnings := func(options ...rest.RouteOption) string {
			log.Reset()
			if err := l.check(options...); err != nil {
				t.Error(err)
			}
			return log.String()
		}
		for _, test := range indexes {
			l.exec(t, "CREATE INDEX books_in_order ON books ("+test.index+")")
			options := []rest.RouteOption{query.Order("id", test.order)}
			if test.collation != nil {
				options = append(options, query.Collate(*test.collation))
			}
			if warned := strings.Contains(warnings(options...), "PostgreSQL reads the whole table"); warned == test.served {
				t.Errorf("%s %s: warned %t", name, test.name, warned)
			}
			l.exec(t, "DROP INDEX books_in_order")
		}

		cursor := pages.Cursor(pages.By("-subtitle"), pages.Sign([]byte("0123456789abcdef")))
		text := warnings(cursor, query.OrderDefault("title", "subtitle"), rest.Summary("books"))
		// The statement of the warning is one that PostgreSQL takes, and then nothing is missing.
		for _, statement := range []string{
			`CREATE INDEX CONCURRENTLY ON "books" ("title" COLLATE "C", "id")`,
			`CREATE INDEX CONCURRENTLY ON "books" ("subtitle" COLLATE "C" NULLS FIRST, "id")`,
		} {
			if !strings.Contains(strings.ReplaceAll(text, `\"`, `"`), statement) {
				t.Errorf("%s: %s is not in\n%s", name, statement, text)
			}
			l.exec(t, statement)
		}
		if text := warnings(cursor, query.OrderDefault("title", "subtitle")); text != "" {
			t.Errorf("%s: warned with all indexes: %s", name, text)
		}
		for _, quiet := range []rest.RouteOption{query.Order("id", "author__name"), query.Search("title"), pages.Number()} {
			if text := warnings(quiet); text != "" {
				t.Errorf("%s: warned: %s", name, text)
			}
		}
		l.exec(t, "ALTER TABLE books RENAME TO tomes")
		if text := warnings(cursor); text != "" {
			t.Errorf("%s: warned of a table that is not there: %s", name, text)
		}
		if err := l.check(pages.Cursor(pages.By("titel"), pages.Sign([]byte("0123456789abcdef")))); err == nil {
			t.Errorf("%s: an order by a field that is not there passed", name)
		}
	}
}
