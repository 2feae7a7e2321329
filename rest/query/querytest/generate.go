package querytest

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

// generator makes random data and questions that sources are likely to answer differently.
type generator struct{ *rand.Rand }

// codes and sizes have few values, so that some rows are equal.
var (
	codes = []Code{code("ax"), code("bx"), code("cx")}
	sizes = []int32{-5, -4, -1, 0, 1, 2, 3, 4, 5, 6, 7, 12, 14}
)

// letters are of all kinds that databases treat differently: wildcards of LIKE, GLOB and
// regular expressions, quotes and parameter marks, letters of one to four bytes with several
// other cases or none, and an accent of its own.
var letters = []rune("aAbkKsSzZ019 _%\\*?[]^$.|(){}-'\"?:@éÉßẞσςΣıİſ\u212AǅǆǄ\u0301\u65e5𐐀𐐨\n")

// moments are close to the boundaries of the parts of a time.
var moments = []time.Time{
	at(1, 1, 2, 0, 0, 0, 0), day(1600, 2, 29), at(1899, 12, 31, 23, 59, 59, 999_999), day(1900, 1, 1),
	at(1969, 12, 31, 23, 59, 59, 999_999), day(1970, 1, 1), at(2000, 2, 28, 23, 59, 59, 999_500), day(2000, 2, 29),
	at(2000, 2, 29, 12, 30, 59, 500_000), day(2000, 3, 1), at(2024, 12, 31, 23, 59, 59, 1), day(2025, 1, 1),
	at(2025, 1, 1, 0, 0, 0, 1), at(2025, 1, 5, 23, 0, 0, 100_000), at(9999, 12, 31, 23, 59, 59, 999_999),
}

var (
	floats = []float64{-1e9, -2.5, -0.1, 0, 0.1, 0.3, 2.5, 123456.789, 1e15}
	wholes = []int64{
		math.MinInt64, math.MinInt32, -2, -1, 0, 1, 2, 3, 10, math.MaxInt32, 1 << 53, 1<<53 + 1, math.MaxInt64,
	}
)

func pick[T any](g generator, items []T) T { return items[g.IntN(len(items))] }

// some returns v, or null one time in four.
func some[T any](g generator, v T) *T {
	if g.IntN(4) == 0 {
		return nil
	}
	return &v
}

func (g generator) text() string {
	runes := make([]rune, g.IntN(4))
	for i := range runes {
		runes[i] = pick(g, letters)
	}
	return string(runes)
}

func (g generator) code() Code { return pick(g, codes) }

func (g generator) data() *Data {
	d := &Data{}
	for i := range int64(3) {
		d.Countries = append(d.Countries, Country{ID: i + 1, Code: g.text(), Name: some(g, g.text())})
	}
	for i := range int64(6) {
		d.Authors = append(d.Authors, Author{
			ID: i + 1, Name: g.text(), Born: some(g, pick(g, moments)), CountryID: some(g, 1+g.Int64N(3)),
		})
	}
	for i := range int64(4) {
		d.Tags = append(d.Tags, Tag{ID: i + 1, Name: g.text()})
	}
	for i := range int64(60) {
		d.Books = append(d.Books, g.book(i+1))
		for tag := range int64(4) {
			if g.IntN(5) == 0 {
				d.BookTags = append(d.BookTags, BookTag{BookID: i + 1, TagID: tag + 1})
			}
		}
		for g.IntN(2) == 0 {
			d.Reviews = append(d.Reviews, Review{
				ID: int64(len(d.Reviews)) + 1, BookID: i + 1, Stars: some(g, g.Int64N(5)), Text: g.text(),
				AuthorID: some(g, 1+g.Int64N(6)),
			})
		}
	}
	return d.link()
}

func (g generator) book(id int64) Book {
	b := Book{
		ID: id, Title: g.text(), Subtitle: some(g, g.text()), Pages: pick(g, sizes), Sold: pick(g, wholes),
		Rating: some(g, pick(g, floats)), InPrint: g.IntN(2) == 0, Hardcover: some(g, g.IntN(2) == 0),
		Code: g.code(), AddedAt: pick(g, moments), Published: some(g, pick(g, moments)), AuthorID: some(g, 1+g.Int64N(6)),
	}
	// No empty ones: a driver of SQLite reads them as null.
	if text := g.text(); text != "" {
		b.Cover = []byte(text)
	}
	return b
}

func (g generator) expr(depth int) query.Expr {
	if depth == 0 || g.IntN(4) == 0 {
		return g.condition()
	}
	items := make([]query.Expr, 1+g.IntN(3))
	for i := range items {
		items[i] = g.expr(depth - 1)
	}
	switch g.IntN(5) {
	case 0:
		return query.Not(items[0])
	case 1:
		return query.Xor(items...)
	case 2:
		return query.And(items...)
	default:
		return query.Or(items...)
	}
}

var (
	texts = []string{
		"title", "subtitle", "author__name", "author__country__code", "author__country__name", "tags__name",
		"reviews__text", "reviews__author__name", "author__books__title", "author__books__tags__name",
	}
	ints  = []string{"id", "pages", "sold", "author", "author__country__id", "reviews__stars", "author__books__pages"}
	bools = []string{"in_print", "hardcover", "author__books__hardcover"}
	times = []string{"added_at", "published", "author__born", "reviews__author__born"}
	nulls = []string{
		"subtitle", "author", "reviews", "tags", "author__books", "author__country", "cover", "author__books__reviews",
	}
	orders = []string{
		"id", "title", "subtitle", "pages", "sold", "rating", "in_print", "hardcover", "added_at", "published", "cover",
		"author", "author__name", "author__born", "author__country__name",
	}

	equalities  = []driver.Lookup{driver.Exact, driver.NotEqual}
	comparisons = []driver.Lookup{
		driver.Exact, driver.NotEqual, driver.Greater, driver.GreaterOrEqual, driver.Less, driver.LessOrEqual,
	}
	searches = []driver.Lookup{
		driver.IExact, driver.Contains, driver.IContains, driver.StartsWith, driver.IStartsWith, driver.EndsWith,
		driver.IEndsWith,
	}
	partsOfTime = []string{"month", "day", "hour", "minute", "second", "week_day"}
)

func (g generator) condition() query.Expr {
	switch g.IntN(10) {
	case 0, 1, 2:
		return driver.On(pick(g, texts), pick(g, searches), g.text())
	case 3:
		return several(g, pick(g, texts), comparisons, g.text)
	case 4:
		return several(g, pick(g, ints), comparisons, func() int64 { return pick(g, append(wholes, 4, 5, 6)) })
	case 5:
		return several(g, "rating", comparisons, func() float64 { return pick(g, floats) })
	case 6:
		return several(g, pick(g, times), comparisons, func() time.Time { return pick(g, moments) })
	case 7:
		return g.part()
	case 8:
		return driver.On(pick(g, nulls), driver.IsNull, g.IntN(2) == 0)
	default:
		return g.other()
	}
}

// several returns a comparison with one value, or with a list of values.
func several[T any](g generator, path string, lookups []driver.Lookup, value func() T) query.Expr {
	switch g.IntN(6) {
	case 0:
		return driver.On(path, driver.Range, []T{value(), value()})
	case 1:
		list := make([]T, g.IntN(4))
		for i := range list {
			list[i] = value()
		}
		return driver.On(path, driver.In, list)
	default:
		return driver.On(path, pick(g, lookups), value())
	}
}

func (g generator) part() query.Expr {
	path := pick(g, times)
	switch g.IntN(4) {
	case 0:
		return several(g, path+"__date", comparisons, func() time.Time { return pick(g, moments) })
	case 1:
		return several(g, path+"__year", comparisons, func() int {
			return pick(g, []int{-1, 0, 1, 1600, 1899, 1900, 1969, 1970, 2000, 2024, 2025, 9998, 9999, 10000})
		})
	default:
		return several(g, path+"__"+pick(g, partsOfTime), comparisons, func() int {
			return pick(g, []int{0, 1, 2, 5, 7, 12, 23, 28, 29, 30, 31, 59})
		})
	}
}

func (g generator) other() query.Expr {
	switch g.IntN(3) {
	case 0:
		return driver.On(pick(g, bools), pick(g, equalities), g.IntN(2) == 0)
	case 1:
		return several(g, "cover", comparisons, func() []byte { return append([]byte{}, g.text()...) })
	default:
		if g.IntN(2) == 0 {
			return driver.On("code", pick(g, equalities), g.code())
		}
		return driver.On("code", driver.In, []Code{g.code(), g.code()})
	}
}

func (g generator) sorts() []string {
	sorts := make([]string, g.IntN(4))
	for i := range sorts {
		sorts[i] = driver.Sort{Path: pick(g, orders), Desc: g.IntN(2) == 0}.String()
	}
	return sorts
}
