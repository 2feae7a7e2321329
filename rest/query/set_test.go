package query_test

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

type author struct {
	ID   int64
	Name string
}

type tag struct {
	ID   int64
	Name string
}

type book struct {
	ID     int64
	Title  string
	Price  *float64
	Author *author
	Tags   []tag
}

func shelf() query.Set[book] {
	zola, ernaux := &author{1, "Émile Zola"}, &author{2, "Annie Ernaux"}
	return query.Slice([]book{
		{ID: 1, Title: "Germinal", Price: new(9.5), Author: zola, Tags: []tag{{1, "classic"}, {2, "mine"}}},
		{ID: 2, Title: "Les Années", Price: nil, Author: ernaux, Tags: []tag{{3, "memoir"}}},
		{ID: 3, Title: "100%", Price: new(3.0), Author: nil},
		{ID: 4, Title: "Nana", Price: new(9.5), Author: zola, Tags: []tag{{1, "classic"}}},
	})
}

func ids(t *testing.T, s query.Set[book]) []int64 {
	t.Helper()

	books, err := s.All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found := []int64{}
	for _, b := range books {
		found = append(found, b.ID)
	}
	return found
}

func TestCollateInMemory(t *testing.T) {
	t.Parallel()

	set := query.Slice([]book{{ID: 1, Title: "a"}, {ID: 2, Title: "B"}}).OrderBy("title")
	if first, _, err := set.Collate("de-x-icu").First(t.Context()); err != nil || first.ID != 2 {
		t.Errorf("got %+v (%v), want the order of bytes", first, err)
	}
	for _, name := range []string{`x"; --`, "a?", "a b"} {
		if _, err := set.Collate(name).Count(t.Context()); err == nil {
			t.Errorf("the collation %q was taken", name)
		}
		if _, err := query.Collate(name).Compile(driver.ModelOf(reflect.TypeFor[book]()), "here"); err == nil {
			t.Errorf("the option took the collation %q", name)
		}
	}
}

func TestSetWhere(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		name string
		expr query.Expr
		want []int64
	}{
		{"Nothing", query.And(), []int64{1, 2, 3, 4}},
		{"Exact", query.Where("title", "Nana"), []int64{4}},
		{"FoldedRelation", query.Where("author__name__iexact", "éMILE zola"), []int64{1, 4}},
		{"DottedPath", driver.On("author.name", driver.IStartsWith, "ANNIE"), []int64{2}},
		{"WildcardIsText", query.Where("title__contains", "%"), []int64{3}},
		{"NullIsNotEqual", query.Where("price__ne", 3), []int64{1, 4}},
		{"NotOfNull", query.Not(query.Where("price", 3)), []int64{1, 4}},
		{"MissingRelationIsNull", query.Not(query.Where("author__name", "x")), []int64{1, 2, 4}},
		{"IsNull", query.Where("price__isnull", true), []int64{2}},
		{"RelationIsNull", query.Where("author__isnull", true), []int64{3}},
		{"RelationIsItsKey", query.Where("author", 2), []int64{2}},
		{"ToMany", query.Where("tags__name", "classic"), []int64{1, 4}},
		{"NotToMany", query.Not(query.Where("tags__name", "classic")), []int64{2, 3}},
		{"NoneRelated", query.Where("tags__isnull", true), []int64{3}},
		{"InNothing", query.Where("id__in", []int{}), []int64{}},
		{"NotInNothing", query.Not(query.Where("price__in", []float64{})), []int64{1, 2, 3, 4}},
		{"Range", query.Where("id__range", []int{2, 3}), []int64{2, 3}},
		{"Or", query.Or(query.Where("id", 1), query.Where("id", 3)), []int64{1, 3}},
		{"XorOfNullIsUnknown", query.Xor(query.Where("price", 3), query.Where("id__gt", 1)), []int64{4}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(test.want, ids(t, shelf().Where(test.expr))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestSetOrder(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		name  string
		sorts []string
		want  []int64
	}{
		{"NullFirstAndStable", []string{"price"}, []int64{2, 3, 1, 4}},
		{"NullLastAndStable", []string{"-price"}, []int64{1, 4, 3, 2}},
		{"Relation", []string{"author__name", "-id"}, []int64{3, 2, 4, 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(test.want, ids(t, shelf().OrderBy(test.sorts...))); diff != "" {
				t.Error(diff)
			}
		})
	}
}
