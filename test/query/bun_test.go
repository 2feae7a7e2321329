package query

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/sqlitedialect"

	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/querytest"
)

func ids(t *testing.T, set query.Set[querytest.Book]) []int64 {
	t.Helper()

	found, err := querytest.IDs(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBunPrepared(t *testing.T) {
	t.Parallel()

	db := bunSQLite(t)
	fillBun(t, db, querytest.Shelf())

	t.Run("With", func(t *testing.T) {
		t.Parallel()

		set := bunquery.Set[querytest.Book](db, bunquery.With(func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Relation("Author").Relation("Tags").Where("book.pages > 0 OR book.pages < 0")
		})).Where(query.Where("author__name__icontains", "zola")).OrderBy("-author__name", "id")
		for range 2 {
			books, err := set.All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(books) != 2 || books[0].Author == nil || books[0].Author.Name != "Émile Zola" || len(books[0].Tags) != 2 {
				t.Errorf("relations are not loaded: %+v", books)
			}
			if n, err := set.Count(t.Context()); err != nil || n != 2 {
				t.Errorf("counted %d (%v), want 2", n, err)
			}
		}
	})
	t.Run("OrStaysInside", func(t *testing.T) {
		t.Parallel()

		set := bunquery.Set[querytest.Book](db, bunquery.With(func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("book.id = 1").WhereOr("book.id = 2")
		})).Where(query.Or(query.Where("id", 2), query.Where("id", 3)))
		if diff := cmp.Diff([]int64{2}, ids(t, set)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("Pointers", func(t *testing.T) {
		t.Parallel()

		books, err := bunquery.Set[*querytest.Book](db).Where(query.Where("id", 5)).All(t.Context())
		if err != nil || len(books) != 1 || books[0].Title != "nana" {
			t.Errorf("got %+v (%v), want book 5", books, err)
		}
	})
	t.Run("PositionNeedsTheRelation", func(t *testing.T) {
		t.Parallel()

		set := bunquery.Set[querytest.Book](db).OrderBy("author__name").List()
		items, n, err := set.Fetch(t.Context(), 0, 3)
		if err != nil || n != 3 {
			t.Fatal(n, err)
		}
		if _, err := set.Position(items, 2); err == nil || !strings.Contains(err.Error(), "author was not loaded") {
			t.Errorf("got %v, want that the author was not loaded", err)
		}
		if position, err := set.Position(items, 0); err != nil || position[0] != nil {
			t.Errorf("a book without an author has the position %v (%v), want null", position, err)
		}
	})
}

func TestBunTransaction(t *testing.T) {
	t.Parallel()

	db := bunPostgres(t)
	fillBun(t, db, querytest.Shelf())
	err := db.RunInTx(t.Context(), nil, func(ctx context.Context, tx bun.Tx) error {
		if _, err := tx.NewDelete().Model((*querytest.Book)(nil)).Where("id < 3").Exec(ctx); err != nil {
			return err
		}
		set := bunquery.Set[querytest.Book](tx).OrderBy("id")
		if diff := cmp.Diff([]int64{3, 4, 5, 6}, ids(t, set)); diff != "" {
			t.Error(diff)
		}
		if n, err := set.Count(ctx); err != nil || n != 4 {
			t.Errorf("counted %d (%v), want 4", n, err)
		}
		return context.Canceled // to roll back
	})
	if n, _ := bunquery.Set[querytest.Book](db).Count(t.Context()); n != 6 {
		t.Errorf("%d books are left (%v), want 6", n, err)
	}
}

func TestBunEstimate(t *testing.T) {
	t.Parallel()

	data := querytest.Shelf()
	for _, db := range []*bun.DB{bunSQLite(t), bunPostgres(t)} {
		fillBun(t, db, data)
		if _, err := db.ExecContext(t.Context(), "ANALYZE books"); err != nil {
			t.Fatal(err)
		}
		set := bunquery.Set[querytest.Book](db)
		if n, err := set.List().Estimate(t.Context()); err != nil || n != 6 {
			t.Errorf("estimated %d (%v), want 6", n, err)
		}
		n, err := set.Where(query.Where("title__contains", "?'")).OrderBy("title").List().Estimate(t.Context())
		if err != nil || n > 1 {
			t.Errorf("estimated %d (%v), want next to nothing", n, err)
		}
	}
}

type note struct {
	bun.BaseModel `bun:"table:notes"`

	ID        int64 `bun:",pk"`
	Text      string
	Virtual   string `bun:",scanonly"`
	FolderID  int64
	Folder    *folder   `bun:"rel:belongs-to,join:folder_id=id"`
	Unrelated *folder   `bun:"type:jsonb"`
	Place     place     `bun:"embed:at_"`
	Later     *folder   `bun:"rel:belongs-to,join:folder_id=id,join_on:later.id > 1"`
	DeletedAt time.Time `bun:",soft_delete,nullzero"`
}

type place struct {
	City string
}

type folder struct {
	bun.BaseModel `bun:"table:dossiers,alias:d"`

	ID        int64      `bun:",pk"`
	Name      string     `bun:"label"`
	Notes     []note     `bun:"rel:has-many,join:id=folder_id"`
	DeletedAt *time.Time `bun:",soft_delete"`
}

func TestBunSchema(t *testing.T) {
	t.Parallel()

	db := openBun(t, "sqlite", sqliteFile(t), sqlitedialect.New())
	gone := time.Now()
	folders := []folder{{ID: 1, Name: "here"}, {ID: 2, Name: "gone", DeletedAt: &gone}}
	notes := []note{
		{ID: 1, Text: "a", FolderID: 1, Place: place{"Paris"}},
		{ID: 2, Text: "b", FolderID: 2},
		{ID: 3, Text: "c", FolderID: 1, DeletedAt: gone},
	}
	for _, rows := range []any{&folders, &notes} {
		if _, err := db.NewCreateTable().Model(rows).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := db.NewInsert().Model(rows).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	for _, test := range []struct {
		expr query.Expr
		want int64
	}{
		{query.And(), 2},
		{query.Where("folder__name", "here"), 1},
		{query.Where("folder__isnull", true), 1}, // what was deleted is not there
		{query.Where("place_city", "Paris"), 1},
		{query.Where("folder__notes__text", "c"), 0},
		{query.Where("folder__notes__text", "a"), 1},
		{query.Where("deleted_at__isnull", true), 2},
	} {
		if n, err := bunquery.Set[note](db).Where(test.expr).Count(t.Context()); err != nil || n != test.want {
			t.Errorf("%+v: counted %d (%v), want %d", test.expr, n, err, test.want)
		}
	}
	for path, want := range map[string]string{
		"virtual":     "note.Virtual is no column for bun",
		"later__name": "joined by a condition of its own",
	} {
		_, err := bunquery.Set[note](db).Where(query.Where(path, "x")).Count(t.Context())
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
		err = bunquery.Check[note](db, query.Search(path))
		if err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("checking %s: got %v, want %s", path, err, want)
		}
	}
	if err := bunquery.Check[note](
		db, query.Search("text", "folder__name"), query.Order("id"), query.OrderDefault("-text"),
	); err != nil {
		t.Error(err)
	}
}
