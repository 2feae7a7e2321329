package main

import (
	"context"
	"net/http"
	"time"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// catalogOptions are what the controllers of the catalog have in common: everybody reads,
// and callers who may edit write.
func catalogOptions(d *doors) []rest.ControllerOption {
	return []rest.ControllerOption{
		rest.Tags("catalog"),
		rest.Auth(d.customer, d.partner, rest.Anonymous),
		rest.Permit(permission.Any(permission.ReadOnly, mayEdit)),
	}
}

// Genres is the model controller of genres, whose list is an array, with a route of its own.
type Genres struct {
	crud.Controller[Genre, string]

	db *bun.DB
}

func newGenres(db *bun.DB) *Genres {
	return &Genres{db: db, Controller: crud.New(bunquery.Store[Genre, string](db), crud.Config[Genre]{
		AllowedRoutes: []crud.Route{crud.Create, crud.List, crud.FindOne, crud.Delete},
		Pagination:    crud.Pagination{Paginator: page.None(), DefaultOrdering: []string{"name"}},
	})}
}

// Routes implements [rest.Controller].
func (c *Genres) Routes(r *rest.Routes) {
	r.Inherit(&c.Controller)
	rest.List(r, "/{slug:genre}/books", c.books, rest.Summary("The books of a genre"), rest.Fails(http.StatusNotFound),
		page.LimitOffset(page.Size(10)), query.OrderDefault("title"))
}

type genreSlug struct {
	Genre string `path:"genre"`
}

func (c *Genres) books(ctx context.Context, in genreSlug) (query.Set[Book], error) {
	genre, err := c.Get(ctx, in.Genre)
	return bunquery.Set[Book](c.db).Where(query.Where("genre_slug", genre.Slug)), err
}

// Authors is the model controller of authors.
type Authors struct{ crud.Controller[Author, int64] }

// AuthorFilter narrows the list of authors.
type AuthorFilter struct {
	Name *string `filter:"__icontains"`
	Born *[]int  `doc:"The first and the last year." filter:"__range" maxItems:"2" minItems:"2"`
}

func newAuthors(db *bun.DB) *Authors {
	return &Authors{crud.New(bunquery.Store[Author, int64](db), crud.Config[Author]{
		Pagination: crud.Pagination{
			Filter: query.Filter[AuthorFilter](), Ordering: []string{"name", "born"}, Paginator: page.Number(page.Size(20)),
		},
		Versions: crud.VersionHash,
	})}
}

// Books is the model controller of books.
type Books struct{ crud.Controller[Book, int64] }

// BookFilter narrows the list of books.
type BookFilter struct {
	Title    *string  `doc:"A part of the title."          filter:"__icontains"`
	Author   *string  `doc:"The whole name of the author." filter:"author__name__iexact"`
	MinPrice *int64   `doc:"In cents."                     filter:"price,gte"            minimum:"0"`
	MaxPrice *int64   `doc:"In cents."                     filter:"price,lte"            minimum:"0"`
	Genre    []string `filter:"genre_slug,in"`
	Year     *int     `doc:"When it was published."        filter:"published__year"      query:"published__year"`
	InStock  *bool
}

// FilterInStock is the condition of the field InStock, which is no column.
func (BookFilter) FilterInStock(yes bool) query.Expr {
	if yes {
		return query.Where("stock__gt", 0)
	}
	return query.Where("stock", 0)
}

func newBooks(db *bun.DB, clock Clock) *Books {
	withAuthor := bunquery.With(func(q *bun.SelectQuery) *bun.SelectQuery { return q.Relation("Author") })
	return &Books{crud.New(bunquery.Store[Book, int64](db, withAuthor), crud.Config[Book]{
		Pagination: crud.Pagination{
			Filter:    query.Filter[BookFilter](),
			Searching: []string{"title", "author__name", "=isbn"},
			Ordering:  []string{"title", "price", "published", "author__name"},
			Paginator: page.Number(page.Size(5), page.Max(50)),
		},
		Hooks: crud.Hooks[Book]{AfterUpdate: func(ctx context.Context, before, book Book) error {
			if before.Price == book.Price {
				return nil
			}
			return logPrice(ctx, bunquery.Tx(ctx, db), before, book, clock())
		}},
	})}
}

// logPrice notes a change of a price in the transaction that makes it.
func logPrice(ctx context.Context, tx bun.IDB, before, book Book, at time.Time) error {
	_, err := tx.NewInsert().Model(&PriceChange{
		BookID: book.ID, Before: before.Price, After: book.Price, At: at,
	}).Exec(ctx)
	return err
}
