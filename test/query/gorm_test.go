package query

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm"

	"github.com/spoolhq/spool/rest/gormquery"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/querytest"
)

func TestGormPrepared(t *testing.T) {
	t.Parallel()

	db := gormSQLite(t)
	fillGorm(t, db, querytest.Shelf())

	t.Run("Preload", func(t *testing.T) {
		t.Parallel()

		set := gormquery.Set[querytest.Book](
			db.Preload("Tags").Joins("Author").Where("books.pages <> 0 OR 1 = 0").Order("books.pages"),
		).
			Where(query.Where("author__name__icontains", "zola")).OrderBy("-author__name", "id")
		for range 2 {
			books, err := set.All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(books) != 2 || books[0].ID != 1 || books[0].Author == nil || books[0].Author.Name != "Émile Zola" ||
				len(books[0].Tags) != 2 {
				t.Errorf("relations are not loaded: %+v", books)
			}
			if n, err := set.Count(t.Context()); err != nil || n != 2 {
				t.Errorf("counted %d (%v), want 2", n, err)
			}
		}
	})
	t.Run("OrStaysInside", func(t *testing.T) {
		t.Parallel()

		set := gormquery.Set[querytest.Book](db.Where("books.id = 1").Or("books.id = 2")).
			Where(query.Or(query.Where("id", 2), query.Where("id", 3)))
		if diff := cmp.Diff([]int64{2}, ids(t, set)); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("Pointers", func(t *testing.T) {
		t.Parallel()

		books, err := gormquery.Set[*querytest.Book](db).Where(query.Where("id", 5)).All(t.Context())
		if err != nil || len(books) != 1 || books[0].Title != "nana" {
			t.Errorf("got %+v (%v), want book 5", books, err)
		}
	})
}

func TestGormTransaction(t *testing.T) {
	t.Parallel()

	db := gormPostgres(t)
	fillGorm(t, db, querytest.Shelf())
	back := errors.New("to roll back")
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Where("id < 3").Delete(&querytest.Book{}).Error; err != nil {
			return err
		}
		if diff := cmp.Diff([]int64{3, 4, 5, 6}, ids(t, gormquery.Set[querytest.Book](tx).OrderBy("id"))); diff != "" {
			t.Error(diff)
		}
		return back
	})
	if n, _ := gormquery.Set[querytest.Book](db).Count(t.Context()); n != 6 || !errors.Is(err, back) {
		t.Errorf("%d books are left (%v), want 6", n, err)
	}
}

func TestGormEstimate(t *testing.T) {
	t.Parallel()

	for _, db := range []*gorm.DB{gormSQLite(t), gormPostgres(t)} {
		fillGorm(t, db, querytest.Shelf())
		if err := db.Exec("ANALYZE books").Error; err != nil {
			t.Fatal(err)
		}
		set := gormquery.Set[querytest.Book](db)
		if n, err := set.List().Estimate(t.Context()); err != nil || n != 6 {
			t.Errorf("estimated %d (%v), want 6", n, err)
		}
		n, err := set.Where(query.Where("title__contains", "?'")).OrderBy("title").List().Estimate(t.Context())
		if err != nil || n > 1 {
			t.Errorf("estimated %d (%v), want next to nothing", n, err)
		}
	}
}

type page struct {
	gorm.Model

	Text      string
	Virtual   string `gorm:"-:migration;<-:false;->:false"`
	SectionID uint
	Section   *section
	Place     location  `gorm:"embedded;embeddedPrefix:at_"`
	Comments  []comment `gorm:"polymorphic:Owner"`
	Settings  settings  `gorm:"serializer:json"`
}

type location struct {
	City string
}

type settings struct {
	Wide bool
}

type section struct {
	gorm.Model

	Name  string `gorm:"column:label"`
	Pages []page
}

type comment struct {
	ID        uint
	OwnerID   uint
	OwnerType string
	Text      string
}

func TestGormSchema(t *testing.T) {
	t.Parallel()

	db := gormSQLite(t)
	gone := gorm.DeletedAt{Time: time.Now(), Valid: true}
	sections := []section{
		{Model: gorm.Model{ID: 1}, Name: "here"}, {Model: gorm.Model{ID: 2, DeletedAt: gone}, Name: "gone"},
	}
	pages := []page{
		{Model: gorm.Model{ID: 1}, Text: "a", SectionID: 1, Place: location{"Paris"}},
		{Model: gorm.Model{ID: 2}, Text: "b", SectionID: 2},
		{Model: gorm.Model{ID: 3, DeletedAt: gone}, Text: "c", SectionID: 1},
	}
	comments := []comment{
		{ID: 1, OwnerID: 1, OwnerType: "pages", Text: "x"},
		{ID: 2, OwnerID: 2, OwnerType: "sections", Text: "x"},
	}
	if err := db.AutoMigrate(&section{}, &page{}, &comment{}); err != nil {
		t.Fatal(err)
	}
	for _, rows := range []any{&sections, &pages, &comments} {
		if err := db.Create(rows).Error; err != nil {
			t.Fatal(err)
		}
	}

	for _, test := range []struct {
		expr query.Expr
		want int64
	}{
		{query.And(), 2},
		{query.Where("section__name", "here"), 1},
		{query.Where("section__isnull", true), 1}, // what was deleted is not there
		{query.Where("place_city", "Paris"), 1},
		{query.Where("section__pages__text", "c"), 0},
		{query.Where("section__pages__text", "a"), 1},
		{query.Where("comments__text", "x"), 1},
		{query.Where("comments__isnull", true), 1},
		{query.Where("id__gte", 2), 1},
		{query.Where("deleted_at__isnull", true), 2},
		{query.Where("settings__isnull", false), 2},
	} {
		if n, err := gormquery.Set[page](db).Where(test.expr).Count(t.Context()); err != nil || n != test.want {
			t.Errorf("%+v: counted %d (%v), want %d", test.expr, n, err, test.want)
		}
	}
	if n, err := gormquery.Set[page](db.Unscoped()).Count(t.Context()); err != nil || n != 3 {
		t.Errorf("counted %d with the deleted ones (%v), want 3", n, err)
	}
	_, err := gormquery.Set[page](db).Where(query.Where("virtual", "x")).Count(t.Context())
	if err == nil || !strings.Contains(err.Error(), "page.Virtual is no column for gorm") {
		t.Errorf("got %v, want that there is no column", err)
	}
	err = gormquery.Check[page](db, query.Search("virtual"))
	if err == nil || !strings.Contains(err.Error(), "page.Virtual is no column for gorm") {
		t.Errorf("got %v, want that there is no column", err)
	}
	if err := gormquery.Check[page](db, query.Search("text", "section__name"), query.Order("id")); err != nil {
		t.Error(err)
	}
}
