package main

import (
	"time"

	"github.com/uptrace/bun"
)

// Genre is a word that books are sorted under. Clients choose its slug.
type Genre struct {
	bun.BaseModel `bun:"table:genres,alias:genre" json:"-"`

	Slug string `bun:",pk"      crud:"given" json:"slug"    maxLength:"40" pattern:"^[a-z0-9-]+$"`
	Name string `bun:",notnull" json:"name"  maxLength:"80" minLength:"1"`
}

// Author is the author of books.
type Author struct {
	bun.BaseModel `bun:"table:authors,alias:author" json:"-"`

	ID   int64  `bun:",pk,autoincrement" json:"id"`
	Name string `bun:",notnull"          json:"name"           maxLength:"100" minLength:"1"`
	Born *int   `doc:"The year."         json:"born,omitempty" maximum:"2100"  minimum:"0"`
}

// Book is an article of the shop.
type Book struct {
	bun.BaseModel `bun:"table:books,alias:book" json:"-"`

	ID        int64     `bun:",pk,autoincrement"                json:"id"`
	Title     string    `bun:",notnull"                         json:"title"            maxLength:"200"                                  minLength:"1"`
	ISBN      string    `bun:",notnull,unique"                  example:"9780141439600" json:"isbn"                                      pattern:"^97[89][0-9]{10}$"`
	AuthorID  int64     `bun:",notnull"                         json:"authorId"         minimum:"1"`
	Author    *Author   `bun:"rel:belongs-to,join:author_id=id" json:"author,omitempty"`
	GenreSlug string    `bun:",notnull"                         example:"novel"         json:"genre"`
	Price     int64     `bun:",notnull"                         doc:"In cents."         json:"price"                                     maximum:"1000000"           minimum:"0"`
	Stock     int64     `bun:",notnull"                         default:"0"             doc:"How many can be sold."                      json:"stock"                minimum:"0"`
	Published time.Time `bun:",notnull"                         json:"published"`
	Version   int64     `bun:",notnull"                         crud:"version"          doc:"Goes up with each change, and is the ETag." json:"version"`
}

// Cover is the picture of a book.
type Cover struct {
	bun.BaseModel `bun:"table:covers,alias:cover"`

	BookID  int64 `bun:",pk"`
	Type    string
	Digest  string // of the image, in hex
	Image   []byte
	Changed time.Time
}

// Review is what a customer thinks of a book. There is one of each customer and book.
type Review struct {
	bun.BaseModel `bun:"table:reviews,alias:review" json:"-"`

	ID      int64     `bun:",pk,autoincrement"    json:"id"`
	BookID  int64     `bun:",notnull,unique:once" json:"bookId"`
	UserID  string    `bun:",notnull,unique:once" json:"userId"`
	Stars   int       `bun:",notnull"             json:"stars"   maximum:"5"      minimum:"1"`
	Text    string    `bun:",notnull"             json:"text"    maxLength:"2000"`
	Written time.Time `bun:",notnull"             json:"written"`
}

// Order is what a customer buys.
type Order struct {
	bun.BaseModel `bun:"table:orders,alias:order"`

	ID       string `bun:",pk"` // a UUID
	UserID   string `bun:",notnull"`
	Placed   time.Time
	Canceled bool
	Total    int64
	Lines    []*OrderLine `bun:"rel:has-many,join:id=order_id"`
}

// OrderLine is one book of an order, with the price that it was sold for.
type OrderLine struct {
	bun.BaseModel `bun:"table:order_lines,alias:line"`

	OrderID  string `bun:",pk"`
	BookID   int64  `bun:",pk"`
	Quantity int64  `bun:",notnull"`
	Price    int64  `bun:",notnull"`
}

// PriceChange is one line of the log that price watchers follow.
type PriceChange struct {
	bun.BaseModel `bun:"table:price_changes,alias:change" json:"-"`

	ID     int64     `bun:",pk,autoincrement" json:"-"`
	BookID int64     `bun:",notnull"          json:"bookId"`
	Before int64     `bun:",notnull"          doc:"In cents." json:"before"`
	After  int64     `bun:",notnull"          doc:"In cents." json:"after"`
	At     time.Time `bun:",notnull"          json:"at"`
}

// Account is somebody who can log in.
type Account struct {
	bun.BaseModel `bun:"table:accounts,alias:account"`

	ID     string `bun:",pk"`
	Name   string
	Admin  bool
	Salt   []byte
	Hash   []byte
	Rounds int // of hashing
}
