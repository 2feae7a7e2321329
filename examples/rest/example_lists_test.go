package main_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

type BookFilter struct {
	Title    *string  `filter:"__icontains"`
	MinPrice *float64 `filter:"price,gte"`
	PriceLte *float64 `query:"price__lte"`
	IDs      []int64  `filter:"__in"        query:"id"`
	Cheap    *bool
}

// FilterCheap is the condition of the field Cheap.
func (BookFilter) FilterCheap(yes bool) query.Expr {
	if yes {
		return query.Where("price__lt", 10)
	}
	return query.Where("price__gte", 10)
}

type Shelf struct{}

func (c Shelf) Routes(r *rest.Routes) {
	rest.List(r, "/numbered", c.list,
		page.Number(page.Size(2)), query.Filter[BookFilter](), query.Order("price", "title"),
		query.Search("title", "^author"))
	rest.List(r, "/bare", c.list)
	rest.List(r, "/whole", c.list, page.None(), rest.View(func(b Book) string { return b.Title }))
	rest.List(r, "/scrolled", c.list, page.Cursor(page.Size(2), page.By("-price"), page.Sign([]byte("sixteen secret b"))))
}

func (c Shelf) list(context.Context, struct{}) (query.Set[Book], error) {
	return query.Slice(books()), nil
}

func Example_lists() {
	api := rest.New(silent(), rest.BaseURL("https://shop.example"))
	api.Register(Shelf{})
	for _, target := range []string{
		"/bare?limit=1&offset=4",
		"/numbered?title=m&price__lte=12&ordering=-price&page_size=1",
		"/numbered?search=jane+emma",
		"/numbered?cheap=no&id=2&id=5",
		"/numbered?ordering=secret&page=0",
		"/whole",
	} {
		show(api, get(target))
	}

	// Output:
	// 200 {"items":[{"id":5,"title":"Middlemarch","author":"George Eliot","price":9}],"count":5}
	// 200 {"count":2,"next":"https://shop.example/numbered?title=m&price__lte=12&ordering=-price&page_size=1&page=2","previous":null,"results":[{"id":5,"title":"Middlemarch","author":"George Eliot","price":9}]}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":1,"title":"Emma","author":"Jane Austen","price":8}]}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":2,"title":"Ulysses","author":"James Joyce","price":20}]}
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"query.ordering[0]","kind":"enum","message":"must be 'price', '-price', 'title' or '-title'","limits":{"expected":"'price', '-price', 'title' or '-title'"}},{"location":"query.page","kind":"greater_than_equal","message":"must be at least 1","limits":{"ge":1}}]}
	// 200 ["Emma","Ulysses","Persuasion","Dubliners","Middlemarch"]
}

func Example_cursor() {
	api := rest.New(silent())
	api.Register(Shelf{})
	target, titles := "/scrolled", []string{}
	for target != "" {
		body := send(api, get(target)).Body.String()
		for _, b := range books() {
			if strings.Contains(body, b.Title) {
				titles = append(titles, b.Title)
			}
		}
		_, next, _ := strings.Cut(body, `"next":"`)
		next, _, _ = strings.Cut(next, `"`)
		if !strings.HasPrefix(next, "/") {
			next = ""
		}
		target = next
	}
	fmt.Println(titles)
	show(api, get("/scrolled?cursor="+url.QueryEscape("made up")))

	// Output:
	// [Ulysses Dubliners Emma Middlemarch Persuasion]
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"query.cursor","kind":"cursor_invalid","message":"must be a cursor of this list in this order"}]}
}
