package query_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/query"
)

type Film struct {
	ID       int64
	Title    string
	Year     int
	Director *Director
	Prizes   []Prize
}

type Director struct {
	ID   int64
	Name string
}

type Prize struct {
	ID   int64
	Name string
}

func films() query.Set[Film] {
	varda := &Director{ID: 1, Name: "Agnès Varda"}
	return query.Slice([]Film{
		{ID: 1, Title: "Cléo de 5 à 7", Year: 1962, Director: varda},
		{ID: 2, Title: "Sans toit ni loi", Year: 1985, Director: varda, Prizes: []Prize{{1, "Leone d'oro"}}},
		{ID: 3, Title: "Jeanne Dielman", Year: 1975, Director: &Director{2, "Chantal Akerman"}},
		{ID: 4, Title: "Unknown", Year: 1920},
	})
}

// read returns a line for each film, or what is wrong.
func read(set query.Set[Film]) string {
	found, err := set.All(context.Background())
	if err != nil {
		return err.Error()
	}
	lines := make([]string, len(found))
	for i, f := range found {
		lines[i] = fmt.Sprintf("%d %s", f.Year, f.Title)
	}
	return strings.Join(lines, "\n")
}

func ExampleSet() {
	set := films().
		Where(query.Where("director__name__icontains", "AGNÈS"), query.Where("year__gte", 1960)).
		OrderBy(query.Desc("year"))
	fmt.Println(read(set))
	// Output:
	// 1985 Sans toit ni loi
	// 1962 Cléo de 5 à 7
}

// A relation to many is about any of the related rows, and a relation to one that is not there
// is null: of the film without a director it is not known whether she is another one.
func ExampleNot() {
	fmt.Println(read(films().Where(
		query.Not(query.Where("prizes__name__startswith", "Leone")),
		query.Not(query.Where("director__name", "Chantal Akerman")),
	)))
	// Output:
	// 1962 Cléo de 5 à 7
}

// A mistake is returned by whatever reads the set.
func ExampleWhere_mistake() {
	fmt.Println(read(films().Where(query.Where("director__nam", "x"))))
	// Output:
	// query_test.Director has no field "nam" (there are id, name)
}

type FilmFilter struct {
	Title    *string `filter:"__icontains"`
	Director *string `filter:"director__name__iexact"`
	Since    *int    `filter:"year,gte"`
	IDs      []int64 `filter:"__in"                                     query:"id"`
	Text     *string `filter:"title,icontains|director__name,icontains" query:"q"`
	Prized   *bool
}

func (FilmFilter) FilterPrized(yes bool) query.Expr { return query.Where("prizes__isnull", !yes) }

// A route is given the options; this is what it does with them.
func ExampleFilter() {
	options := []query.Option{
		query.Filter[FilmFilter](), query.Order("year", "title"), query.OrderDefault("-year"),
	}
	request := httptest.NewRequest(http.MethodGet, "/films?q=agn%C3%A8s&since=1900&ordering=year", nil)

	list := films().List()
	for _, option := range options {
		stage, err := option.Compile(list.Model(), "GET /films")
		if err != nil {
			panic(err)
		}
		list, _ = stage.Apply(context.Background(), bind.NewInput(request, nil), list)
	}
	items, n, err := list.Fetch(context.Background(), 0, 10)
	fmt.Println(n, err, list.Order())
	for _, f := range items.([]Film) { //nolint:errcheck // films are what they are
		fmt.Println(f.Title)
	}
	// Output:
	// 2 <nil> [year id]
	// Cléo de 5 à 7
	// Sans toit ni loi
}
