package query_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/spoolhq/spool/rest/query"
)

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
		OrderBy("-year")
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
