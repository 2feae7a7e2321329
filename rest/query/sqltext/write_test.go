package sqltext_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
	"github.com/spoolhq/spool/rest/query/querytest"
	"github.com/spoolhq/spool/rest/query/sqltext"
)

// named is a table whose columns have the logical names.
type named struct{ name string }

func (n named) Source() string { return n.name }

func (n named) Live() []sqltext.Fixed {
	if n.name == "author" {
		return []sqltext.Fixed{{Column: "deleted_at"}}
	}
	return nil
}

func (n named) Column(f *driver.Field) (sqltext.Column, error) {
	if f.Name == "code" {
		return sqltext.Column{}, errors.New("no such column")
	}
	return sqltext.Column{Name: f.Name, Zoneless: f.Name == "born"}, nil
}

func (n named) Join(r *driver.Relation) (*sqltext.Join, error) {
	switch r.Name {
	case "tags":
		return &sqltext.Join{
			Target: named{"tag"}, On: []sqltext.Pair{{Left: "id", Right: "book_id"}},
			Fixed:   []sqltext.Fixed{{Column: "kind", Value: "book"}},
			Through: &sqltext.Through{Source: "tagged", On: []sqltext.Pair{{Left: "tag_id", Right: "id"}}},
		}, nil
	case "reviews", "books":
		return &sqltext.Join{Target: named{r.Name}, On: []sqltext.Pair{{Left: "id", Right: n.name + "_id"}}}, nil
	case "country":
		return nil, errors.New("no such relation")
	default:
		return &sqltext.Join{Target: named{r.Name}, On: []sqltext.Pair{{Left: r.Name + "_id", Right: "id"}}}, nil
	}
}

// write returns what is written as lines, and the parameters. With descending the plan is
// ordered by the rating, which may be null.
func write(t *testing.T, d sqltext.Dialect, e query.Expr, descending ...bool) (string, []any, error) {
	t.Helper()

	m := driver.ModelOf(reflect.TypeFor[querytest.Book]())
	where, err := m.Resolve(e)
	if err != nil {
		t.Fatal(err)
	}
	plan := driver.Plan{Where: where}
	if len(descending) > 0 {
		plan.Order = []driver.Key{{Column: &driver.Column{Model: m, Field: m.Field("rating")}, Desc: descending[0]}}
	}
	st, err := sqltext.Write(d, named{"book"}, "b", plan)
	if err != nil {
		return "", nil, err
	}
	var lines []string
	var args []any
	for _, j := range st.Joins {
		lines, args = append(lines, j.Text), append(args, j.Args...)
	}
	lines, args = append(lines, st.Where.Text), append(args, st.Where.Args...)
	for _, o := range st.Order {
		lines = append(lines, "ORDER BY "+o.Text)
	}
	return strings.Join(lines, "\n"), args, nil
}

func TestWrite(t *testing.T) {
	t.Parallel()

	moment := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name     string
		expr     query.Expr
		postgres string
		sqlite   string // empty when it is the same
		args     []any
	}{
		{
			"Joins",
			query.And(query.Where("author__name", "x"), query.Not(query.Where("author__id__gt", 1))),
			`LEFT JOIN author AS "q1_author" ON b.author_id = "q1_author".id AND "q1_author".deleted_at IS NULL
("q1_author".name = ?) AND (NOT ("q1_author".id > CAST(? AS bigint)))`,
			`LEFT JOIN author AS "q1_author" ON b.author_id = "q1_author".id AND "q1_author".deleted_at IS NULL
("q1_author".name COLLATE BINARY = ?) AND (NOT ("q1_author".id > ?))`,
			[]any{"x", int64(1)},
		},
		{
			"Through",
			query.Where("tags__id__in", []int{1, 2}),
			`EXISTS (SELECT 1 FROM tagged AS "q2_tags" JOIN tag AS "q1_tags" ON "q2_tags".tag_id = "q1_tags".id ` +
				`WHERE b.id = "q2_tags".book_id AND "q2_tags".kind = ? AND ("q1_tags".id IN (CAST(? AS bigint), CAST(? AS bigint))))`,
			`EXISTS (SELECT 1 FROM tagged AS "q2_tags" JOIN tag AS "q1_tags" ON "q2_tags".tag_id = "q1_tags".id ` +
				`WHERE b.id = "q2_tags".book_id AND "q2_tags".kind = ? AND ("q1_tags".id IN (?, ?)) LIMIT 1)`,
			[]any{"book", int64(1), int64(2)},
		},
		{
			"JoinInside",
			query.Where("reviews__author__name__isnull", false),
			`EXISTS (SELECT 1 FROM reviews AS "q1_reviews" LEFT JOIN author AS "q2_author" ON "q1_reviews".author_id = "q2_author".id ` +
				`AND "q2_author".deleted_at IS NULL WHERE b.id = "q1_reviews".book_id AND ("q2_author".name IS NOT NULL))`,
			`EXISTS (SELECT 1 FROM reviews AS "q1_reviews" LEFT JOIN author AS "q2_author" ON "q1_reviews".author_id = "q2_author".id ` +
				`AND "q2_author".deleted_at IS NULL WHERE b.id = "q1_reviews".book_id AND ("q2_author".name IS NOT NULL) LIMIT 1)`,
			nil,
		},
		{
			"Fold",
			query.Where("title__icontains", "é_ [k]"),
			`b.title COLLATE "C" ~ ?`, "",
			[]any{`[éÉ]\_\ \[[kK]\]`},
		},
		{
			"FoldASCII",
			query.Where("title__istartswith", `50%\`),
			`b.title COLLATE "C" ILIKE ?`, "",
			[]any{`50\%\\%`},
		},
		{
			"Year",
			query.Where("added_at__year", 2024),
			"(b.added_at >= ?) AND (b.added_at < ?)", "(b.added_at >= ?) AND (b.added_at < ?)",
			[]any{moment, moment.AddDate(1, 0, 0)},
		},
		{
			"Zoneless",
			query.Where("author__born__month", 2),
			`LEFT JOIN author AS "q1_author" ON b.author_id = "q1_author".id AND "q1_author".deleted_at IS NULL
CAST(EXTRACT(MONTH FROM "q1_author".born) AS integer) = CAST(? AS bigint)`,
			`LEFT JOIN author AS "q1_author" ON b.author_id = "q1_author".id AND "q1_author".deleted_at IS NULL
CAST(substr("q1_author".born, 6, 2) AS integer) = ?`,
			[]any{int64(2)},
		},
		{
			"Regex",
			query.Where("title__iregex", "a+"),
			"b.title ~* ?", "",
			[]any{"a+"},
		},
		{
			"Huge",
			query.Where("sold__lt", uint64(1)<<63),
			"b.sold < CAST(? AS numeric)", "b.sold < CAST(? AS numeric)",
			[]any{"9223372036854775808"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			got, args, err := write(t, sqltext.Postgres, test.expr)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.postgres, got); diff != "" {
				t.Error("PostgreSQL:", diff)
			}
			if diff := cmp.Diff(test.args, args); diff != "" {
				t.Error(diff)
			}
			if test.sqlite == "" {
				return
			}
			got, _, err = write(t, sqltext.SQLite, test.expr)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.sqlite, got); diff != "" {
				t.Error("SQLite:", diff)
			}
		})
	}
}

func TestGlob(t *testing.T) {
	t.Parallel()

	got, args, err := write(t, sqltext.SQLite, query.Where("title__iendswith", "É*[?"), true)
	if err != nil || got != "b.title GLOB ?\nORDER BY b.rating DESC" {
		t.Error(got, err)
	}
	if diff := cmp.Diff([]any{"*[Éé][*][[][?]"}, args); diff != "" {
		t.Error(diff)
	}
}

func TestOrderOfNulls(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		dialect sqltext.Dialect
		desc    bool
		want    string
	}{
		{sqltext.Postgres, false, "b.rating ASC NULLS FIRST"},
		{sqltext.Postgres, true, "b.rating DESC NULLS LAST"},
		{sqltext.SQLite, false, "b.rating ASC"},
	} {
		if got, _, err := write(t, test.dialect, query.And(), test.desc); err != nil || got != "1 = 1\nORDER BY "+test.want {
			t.Errorf("got %q (%v), want %q", got, err, test.want)
		}
	}
}

func TestCollation(t *testing.T) {
	t.Parallel()

	m := driver.ModelOf(reflect.TypeFor[querytest.Book]())
	for _, test := range []struct {
		dialect   sqltext.Dialect
		collation *string
		order     string
		where     string
	}{
		{sqltext.Postgres, nil, `b.title COLLATE "C" ASC`, `b.title COLLATE "C" > ?`},
		{sqltext.Postgres, new(""), `b.title ASC`, `b.title > ?`},
		{sqltext.Postgres, new("de-x-icu"), `b.title COLLATE "de-x-icu" ASC`, `b.title COLLATE "de-x-icu" > ?`},
		{sqltext.SQLite, new("de-x-icu"), `b.title COLLATE BINARY ASC`, `b.title COLLATE BINARY > ?`},
	} {
		where, err := m.Resolve(query.Where("title__gt", "x"))
		if err != nil {
			t.Fatal(err)
		}
		plan := driver.Plan{
			Where: where, Order: []driver.Key{{Column: &driver.Column{Model: m, Field: m.Field("title")}}},
			Collation: test.collation,
		}
		st, err := sqltext.Write(test.dialect, named{"book"}, "b", plan)
		if err != nil || st.Order[0].Text != test.order || st.Where.Text != test.where {
			t.Errorf("wrote %+v (%v), want %s and %s", st, err, test.order, test.where)
		}
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		dialect sqltext.Dialect
		expr    query.Expr
		want    string
	}{
		{0, query.And(), "PostgreSQL and SQLite only"},
		{sqltext.SQLite, query.Where("code__isnull", true), "no such column"},
		{sqltext.SQLite, query.Where("author__country__code", "x"), "no such relation"},
		{sqltext.SQLite, query.Where("reviews__author__country__code", "x"), "no such relation"},
		{sqltext.SQLite, query.Not(query.Or(query.Where("id", 1), query.Where("code__isnull", true))), "no such column"},
	} {
		if _, _, err := write(t, test.dialect, test.expr); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want %s", err, test.want)
		}
	}
}

func TestPlannedRows(t *testing.T) {
	t.Parallel()

	n, err := sqltext.PlannedRows([]byte(`[{"Plan": {"Node Type": "Seq Scan", "Plan Rows": 42}}]`))
	if n != 42 || err != nil {
		t.Errorf("got %d, %v", n, err)
	}
	for _, answer := range []string{"", "[]", `[{"Plan": {}}]`} {
		if _, err := sqltext.PlannedRows([]byte(answer)); err == nil {
			t.Errorf("%q has a number of rows", answer)
		}
	}
}
