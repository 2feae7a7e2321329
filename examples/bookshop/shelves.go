package main

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// shelf has the common routes of choices of books. It is not a controller itself: others embed it.
type shelf struct{ books query.Set[Book] }

// Routes implements [rest.Controller].
func (s *shelf) Routes(r *rest.Routes) {
	r.Configure(rest.Tags("shelves"))
	rest.List(r, "/", s.list, rest.Summary("The books on the shelf"), page.Number(page.Size(10)),
		query.OrderDefault("title"))
	rest.Get(r, "/size", s.size, rest.Summary("How many books there are"))
}

// Size is how many books stand on a shelf.
type Size struct {
	Books int64 `json:"books"`
}

func (s *shelf) list(context.Context, struct{}) (query.Set[Book], error) { return s.books, nil }

func (s *shelf) size(ctx context.Context, _ struct{}) (Size, error) {
	n, err := s.books.Count(ctx)
	return Size{n}, err
}

// Arrivals are books that came out lately. The controller is its shelf and nothing else.
type Arrivals struct{ shelf }

func newArrivals(db *bun.DB, year int) *Arrivals {
	return &Arrivals{shelf{bunquery.Set[Book](db).Where(query.Where("published__year__gte", year))}}
}

// Bargains are books below a price. It has the routes of its shelf, but its own list.
type Bargains struct {
	shelf

	below int64
}

func newBargains(db *bun.DB, below int64) *Bargains {
	return &Bargains{shelf{bunquery.Set[Book](db).Where(query.Where("price__lt", below))}, below}
}

// Routes implements [rest.Controller].
func (b *Bargains) Routes(r *rest.Routes) {
	r.Inherit(&b.shelf)
	rest.List(r, "/", b.list, rest.Summary("The cheapest books"), rest.View(b.offer), page.Number(page.Size(10)),
		query.OrderDefault("price"))
}

// Offer is a bargain.
type Offer struct {
	BookID int64  `json:"bookId"`
	Title  string `json:"title"`
	Price  int64  `doc:"In cents."                                  json:"price"`
	Off    int64  `doc:"How far it is below the limit of bargains." json:"off"`
}

func (b *Bargains) offer(book Book) Offer {
	return Offer{book.ID, book.Title, book.Price, b.below - book.Price}
}
