package main

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// The people who can log in to a seeded shop.
const (
	demoPassword  = "correct horse"
	demoCustomer  = "ada"
	otherCustomer = "bob"
	demoAdmin     = "grace"
)

// seed puts something into an empty shop.
func seed(ctx context.Context, db *bun.DB) error {
	if full, err := db.NewSelect().Model((*Book)(nil)).Exists(ctx); err != nil || full {
		return err
	}
	rows := []any{&seedGenres, &seedAuthors}
	books := make([]Book, 0, len(seedBooks))
	for i, b := range seedBooks {
		books = append(books, Book{
			Title: b.title, ISBN: fmt.Sprintf("97801414%05d", 39600+i), AuthorID: b.author, GenreSlug: b.genre, Price: b.price,
			Stock: b.stock, Published: time.Date(b.year, 1, 1, 0, 0, 0, 0, time.UTC), Version: 1,
		})
	}
	rows = append(rows, &books)
	for _, a := range []struct {
		id, name string
		admin    bool
	}{{demoCustomer, "Ada", false}, {otherCustomer, "Bob", false}, {demoAdmin, "Grace", true}} {
		account, err := newAccount(a.id, a.name, demoPassword, a.admin)
		if err != nil {
			return err
		}
		rows = append(rows, account)
	}
	return db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		for _, r := range rows {
			if _, err := tx.NewInsert().Model(r).Exec(ctx); err != nil {
				return fmt.Errorf("seed the shop: %w", err)
			}
		}
		return nil
	})
}

var seedGenres = []Genre{
	{Slug: "gothic", Name: "Gothic fiction"},
	{Slug: "novel", Name: "Novel"},
	{Slug: "sea-story", Name: "Sea story"},
	{Slug: "science-fiction", Name: "Science fiction"},
}

var seedAuthors = []Author{
	{ID: 1, Name: "Jane Austen", Born: new(1775)},
	{ID: 2, Name: "Mary Shelley", Born: new(1797)},
	{ID: 3, Name: "Herman Melville", Born: new(1819)},
	{ID: 4, Name: "Jules Verne", Born: new(1828)},
	{ID: 5, Name: "Émile Zola", Born: new(1840)},
	{ID: 6, Name: "H. G. Wells", Born: new(1866)},
}

//go:fix inline
var seedBooks = []struct {
	title        string
	author       int64
	genre        string
	price, stock int64
	year         int
}{
	{"Pride and Prejudice", 1, "novel", 999, 12, 1813},
	{"Emma", 1, "novel", 1099, 3, 1815},
	{"Persuasion", 1, "novel", 899, 0, 1817},
	{"Frankenstein", 2, "gothic", 799, 8, 1818},
	{"The Last Man", 2, "science-fiction", 1299, 2, 1826},
	{"Moby-Dick", 3, "sea-story", 1499, 5, 1851},
	{"Typee", 3, "sea-story", 1199, 1, 1846},
	{"Twenty Thousand Leagues Under the Seas", 4, "science-fiction", 1399, 7, 1870},
	{"Around the World in Eighty Days", 4, "novel", 1099, 9, 1872},
	{"Germinal", 5, "novel", 1299, 4, 1885},
	{"Nana", 5, "novel", 1199, 0, 1880},
	{"The Time Machine", 6, "science-fiction", 699, 20, 1895},
	{"The War of the Worlds", 6, "science-fiction", 899, 6, 1898},
}
