package querytest

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
)

// examples are conditions and the books on the shelf that match them.
var examples = []struct {
	name string
	expr query.Expr
	want []int64
}{
	{"All", query.And(), []int64{1, 2, 3, 4, 5, 6}},
	{"None", query.Or(), []int64{}},
	{"ExactIsCaseSensitive", query.Where("title", "Nana"), []int64{2}},
	{"NotEqualLeavesOutNull", query.Where("subtitle__ne", "a novel"), []int64{3, 4, 5, 6}},
	{"NotLeavesOutNull", query.Not(query.Where("subtitle", "a novel")), []int64{3, 4, 5, 6}},
	{"IExact", query.Where("title__iexact", "NANA"), []int64{2, 5}},
	{"IExactBeyondASCII", query.Where("subtitle__iexact", "Éclair"), []int64{4, 5}},
	{"IExactGreek", query.Where("title__icontains", "όνομα"), []int64{6}},
	{"FinalSigma", query.Where("reviews__text__iexact", "σοφος"), []int64{2}},
	{"KelvinIsNoK", query.Where("title__icontains", "k"), []int64{3}},
	{"SharpSIsNoSS", query.Where("author__name__icontains", "STRASSE"), []int64{}},
	{"SharpS", query.Where("author__name__istartswith", "STRAẞE"), []int64{4}},
	{"IContainsNothing", query.Where("subtitle__icontains", ""), []int64{1, 3, 4, 5, 6}},
	{"PercentIsText", query.Where("title__contains", "%"), []int64{4}},
	{"UnderscoreIsText", query.Where("author__name__icontains", "e_1"), []int64{4}},
	{"BackslashIsText", query.Where("title__contains", `\`), []int64{4}},
	{"GlobIsText", query.Where("title__iendswith", `\*[X]?`), []int64{4}},
	{"QuotesAreText", query.Where("subtitle__icontains", "IT'S -- 'quoted' ? $1 :x @y"), []int64{6}},
	{"ContainsIsCaseSensitive", query.Where("title__contains", "ana"), []int64{2, 5}},
	{"StartsWithIsCaseSensitive", query.Where("title__startswith", "n"), []int64{5}},
	{"StartsWithNothing", query.Where("subtitle__startswith", ""), []int64{1, 3, 4, 5, 6}},
	{"EndsWith", query.Where("title__endswith", "al"), []int64{1}},
	{"EndsWithNothing", query.Where("subtitle__endswith", ""), []int64{1, 3, 4, 5, 6}},
	{"EndsWithMoreThanThereIs", query.Where("title__endswith", "a long Nana"), []int64{}},
	{"TextIsOrderedByBytes", query.Where("title__lt", "a"), []int64{1, 2, 3, 4}},
	{"In", query.Where("id__in", []int{1, 4, 99}), []int64{1, 4}},
	{"InNothing", query.Where("id__in", []int{}), []int64{}},
	{"NotInNothing", query.Not(query.Where("rating__in", []float64{})), []int64{1, 2, 3, 4, 5, 6}},
	{"InText", query.Where("title__in", []string{"Nana", "x"}), []int64{2}},
	{"Range", query.Where("pages__range", []int{12, 400}), []int64{2, 3, 5}},
	{"Int", query.Where("sold", int64(1)<<40), []int64{1}},
	{"IntBeyondItsColumn", query.Where("pages__lt", int64(1)<<60), []int64{1, 2, 3, 4, 5, 6}},
	{"IntBeyondAll", query.Where("sold__lt", uint64(1)<<63), []int64{1, 2, 3, 4, 5, 6}},
	{"NegativeInt", query.Where("sold__lte", -7), []int64{2}},
	{"Float", query.Where("rating__gte", 3.25), []int64{1, 2, 5}},
	{"FloatAndInt", query.Where("rating__gt", 0), []int64{1, 2, 5}},
	{"Bool", query.Where("in_print", true), []int64{1, 2}},
	{"NullableBool", query.Where("hardcover", false), []int64{3}},
	{"Own", query.Where("code", code("aa")), []int64{1, 4}},
	{"OwnIn", query.Where("code__in", []Code{code("bb"), code("cc")}), []int64{2, 3}},
	{"IsNull", query.Where("subtitle__isnull", true), []int64{2}},
	{"IsNotNull", query.Where("rating__isnull", false), []int64{1, 2, 4, 5, 6}},
	{"Time", query.Where("added_at", day(2024, 2, 29)), []int64{1}},
	{"TimeInAnotherZone", query.Where("added_at", day(2024, 2, 29).In(time.FixedZone("", 3600))), []int64{1}},
	{"TimeBetween", query.Where("added_at__range", []time.Time{day(2024, 1, 1), day(2024, 12, 31)}), []int64{1, 3, 4}},
	{"Microsecond", query.Where("added_at__gt", at(2024, 12, 31, 23, 59, 59, 999_998)), []int64{5, 6}},
	{"Year", query.Where("added_at__year", 2024), []int64{1, 3, 4, 5}},
	{"YearAfter", query.Where("published__year__gt", 1885), []int64{3, 5, 6}},
	{"YearNot", query.Where("published__year__ne", 1885), []int64{2, 3, 5, 6}},
	{"YearIn", query.Where("published__year__in", []int{1885, 2024}), []int64{1, 5}},
	{"YearRange", query.Where("published__year__range", []int{1880, 1885}), []int64{1, 2}},
	{"YearBeyondAll", query.Not(query.Where("published__year__gte", 123456)), []int64{1, 2, 3, 5, 6}},
	{"YearBeforeAll", query.Where("published__year__gt", -5), []int64{1, 2, 3, 5, 6}},
	{"Month", query.Where("added_at__month", 12), []int64{2, 5}},
	{"MonthBefore", query.Where("added_at__month__lte", 2), []int64{1, 3, 6}},
	{"Day", query.Where("added_at__day", 29), []int64{1}},
	{"Hour", query.Where("added_at__hour", 13), []int64{4}},
	{"Minute", query.Where("added_at__minute", 5), []int64{4}},
	{"SecondIsWhole", query.Where("added_at__second", 59), []int64{2, 5}},
	{"WeekDay", query.Where("added_at__week_day", 1), []int64{2, 4}},
	{"WeekDayOfNull", query.Not(query.Where("published__week_day", 1)), []int64{3, 5, 6}},
	{"Date", query.Where("added_at__date", "2024-12-31"), []int64{5}},
	{"DateUpTo", query.Where("added_at__date__lte", day(2023, 12, 31)), []int64{2}},
	{"DateAfter", query.Where("added_at__date__gt", "2024-07-14"), []int64{5, 6}},
	{"Relation", query.Where("author__name", "Christa Wolf"), []int64{3}},
	{"RelationIsItsKey", query.Where("author", 1), []int64{1, 2}},
	{"RelationIn", query.Where("author__in", []int{1, 3}), []int64{1, 2, 4}},
	{"RelationIsNull", query.Where("author__isnull", true), []int64{5, 6}},
	{"NotOfMissingRelation", query.Not(query.Where("author__name", "Christa Wolf")), []int64{1, 2, 4}},
	{"TwoRelations", query.Where("author__country__code", "FR"), []int64{1, 2}},
	{"FarIsNull", query.Where("author__country__name__isnull", true), []int64{3, 4, 5, 6}},
	{"SharedJoin", query.And(
		query.Where("author__country__code", "FR"), query.Where("author__born__year", 1840), query.Where("author__id__lt", 9),
	), []int64{1, 2}},
	{"ToMany", query.Where("reviews__stars__gte", 4), []int64{1, 4}},
	{"ToManyCountsOnce", query.Where("reviews__id__gt", 0), []int64{1, 2, 4}},
	{"EachConditionHasItsOwnRow", query.And(
		query.Where("reviews__stars", 5), query.Where("reviews__stars", 2),
	), []int64{1}},
	{"NotToMany", query.Not(query.Where("reviews__stars__gte", 4)), []int64{2, 3, 5, 6}},
	{"ToManyNullElement", query.Where("reviews__stars__isnull", true), []int64{2}},
	{"NoneRelated", query.Where("reviews__isnull", true), []int64{3, 5, 6}},
	{"SomeRelated", query.Where("reviews__isnull", false), []int64{1, 2, 4}},
	{"ToManyIsItsKey", query.Where("tags", 2), []int64{1, 3}},
	{"Through", query.Where("tags__name__iexact", "NOVEL"), []int64{1, 3}},
	{"ThroughNone", query.Where("tags__isnull", true), []int64{4, 5, 6}},
	{"ToManyThenOne", query.Where("reviews__author__country__code", "DE"), []int64{1}},
	{"ToManyThenMissingOne", query.Where("reviews__author__name__isnull", true), []int64{1, 2, 4}},
	{"OneThenMany", query.Where("author__books__title", "Nana"), []int64{1, 2}},
	{"NotOneThenMany", query.Not(query.Where("author__books__title", "Nana")), []int64{3, 4, 5, 6}},
	{"ManyThenMany", query.Where("author__books__tags__name", "classic"), []int64{1, 2}},
	{"ManyThenNoMany", query.Where("author__books__reviews__isnull", true), []int64{3}},
	{"MissingOneThenNoMany", query.Where("author__books__isnull", true), []int64{5, 6}},
	{"Or", query.Or(query.Where("id", 1), query.Where("rating__lt", 0)), []int64{1, 4}},
	{"OrWithUnknown", query.Or(query.Where("rating", 9), query.Where("id", 3)), []int64{3}},
	{"NotOr", query.Not(query.Or(query.Where("rating", 4.5), query.Where("id", 4))), []int64{2, 6}},
	{"Xor", query.Xor(query.Where("rating", 4.5), query.Where("id__lte", 3)), []int64{2, 5}},
	{"XorOfThree", query.Xor(
		query.Where("id__lte", 3), query.Where("id__lte", 2), query.Where("id__lte", 1),
	), []int64{1, 3}},
}

func testExamples(t *testing.T, books query.Set[Book]) {
	t.Helper()

	books = books.OrderBy("id")
	for _, example := range examples {
		t.Run(example.name, func(t *testing.T) {
			t.Parallel()

			set := books.Where(example.expr)
			got, err := IDs(t.Context(), set)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(example.want, got); diff != "" {
				t.Error("rows:", diff)
			}
			n, err := set.Count(t.Context())
			if err != nil || n != int64(len(example.want)) {
				t.Errorf("counted %d (%v), want %d", n, err, len(example.want))
			}
		})
	}
}
