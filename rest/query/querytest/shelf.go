package querytest

import "time"

// Shelf returns the data of the examples: six books.
func Shelf() *Data {
	d := &Data{
		Countries: []Country{{ID: 1, Code: "FR", Name: new("France")}, {ID: 2, Code: "DE"}},
		Authors: []Author{
			{ID: 1, Name: "Émile Zola", CountryID: new(int64(1)), Born: new(day(1840, 4, 2))},
			{ID: 2, Name: "Christa Wolf", CountryID: new(int64(2)), Born: new(day(1929, 3, 18))},
			{ID: 3, Name: "straße_100%"},
		},
		Tags: []Tag{{ID: 1, Name: "classic"}, {ID: 2, Name: "Novel"}, {ID: 3, Name: "unused"}},
		BookTags: []BookTag{
			{BookID: 1, TagID: 1}, {BookID: 1, TagID: 2}, {BookID: 2, TagID: 1}, {BookID: 3, TagID: 2},
		},
		Reviews: []Review{
			{ID: 1, BookID: 1, Stars: new(int64(5)), Text: "great", AuthorID: new(int64(2))},
			{ID: 2, BookID: 1, Stars: new(int64(2)), Text: "long"},
			{ID: 3, BookID: 2, Stars: nil, Text: "ΣΟΦΟΣ"},
			{ID: 4, BookID: 4, Stars: new(int64(4)), Text: "Great"},
		},
	}
	d.Books = []Book{
		{
			ID: 1, Title: "Germinal", Subtitle: new("a novel"), Pages: 500, Sold: 1 << 40, Rating: new(4.5),
			InPrint: true, Hardcover: new(true), Code: code("aa"), Cover: []byte{0, 1}, AuthorID: new(int64(1)),
			AddedAt: day(2024, 2, 29), Published: new(day(1885, 3, 1)),
		},
		{
			ID: 2, Title: "Nana", Pages: 400, Sold: -7, Rating: new(3.25), InPrint: true, Code: code("bb"),
			AuthorID: new(int64(1)), AddedAt: at(2023, 12, 31, 23, 59, 59, 999_999), Published: new(day(1880, 2, 15)),
		},
		{
			ID: 3, Title: "Kassandra", Subtitle: new(""), Pages: 180, Rating: nil, Hardcover: new(false),
			Code: code("cc"), AuthorID: new(int64(2)), AddedAt: day(2024, 1, 1), Published: new(day(1983, 1, 1)),
		},
		{
			ID: 4, Title: `50% o_ff\*[x]?`, Subtitle: new("ÉCLAIR"), Pages: 0, Rating: new(-1.5), Code: code("aa"),
			AuthorID: new(int64(3)), AddedAt: at(2024, 7, 14, 13, 5, 7, 250_000),
		},
		{
			ID: 5, Title: "nana", Subtitle: new("éclair"), Pages: 12, Rating: new(4.5), Code: code("dd"),
			AddedAt: at(2024, 12, 31, 23, 59, 59, 999_999), Published: new(day(2024, 12, 31)),
		},
		{
			ID: 6, Title: "ΌΝΟΜΑ \u212A", Subtitle: new("it's -- 'quoted' ? $1 :x @y"), Pages: -3, Rating: new(0.0),
			Code: code("ee"), AddedAt: day(2025, 1, 1), Published: new(day(2025, 1, 1)),
		},
	}
	return d.link()
}

func code(s string) Code { return Code{[2]byte([]byte(s))} }

func day(y int, m time.Month, d int) time.Time { return time.Date(y, m, d, 0, 0, 0, 0, time.UTC) }

func at(y int, m time.Month, d, hour, minute, second, micro int) time.Time {
	return time.Date(y, m, d, hour, minute, second, micro*1000, time.UTC)
}
