package querytest

import (
	"database/sql/driver"
	"fmt"
	"time"
)

// Book is a row with a column of each kind and a relation of each kind.
type Book struct {
	ID        int64 `bun:",pk"`
	Title     string
	Subtitle  *string
	Pages     int32
	Sold      int64
	Rating    *float64
	InPrint   bool
	Hardcover *bool
	Code      Code `bun:"type:varchar(16)" gorm:"type:varchar(16)"`
	Cover     []byte
	AddedAt   time.Time
	Published *time.Time
	AuthorID  *int64
	Author    *Author  `bun:"rel:belongs-to,join:author_id=id"`
	Reviews   []Review `bun:"rel:has-many,join:id=book_id"`
	Tags      []Tag    `bun:"m2m:book_tags,join:Book=Tag"      gorm:"many2many:book_tags"`
}

// Author is related to books: a book has at most one.
type Author struct {
	ID        int64 `bun:",pk"`
	Name      string
	Born      *time.Time
	CountryID *int64
	Country   *Country `bun:"rel:belongs-to,join:country_id=id"`
	Books     []Book   `bun:"rel:has-many,join:id=author_id"`
}

// Country is related to authors: an author has at most one.
type Country struct {
	ID   int64 `bun:",pk"`
	Code string
	Name *string
}

// Review is related to books: a book has any number.
type Review struct {
	ID       int64 `bun:",pk"`
	BookID   int64
	Stars    *int64
	Text     string
	AuthorID *int64
	Author   *Author `bun:"rel:belongs-to,join:author_id=id"`
}

// Tag is related to books in both directions: any number on each side.
type Tag struct {
	ID   int64 `bun:",pk"`
	Name string
}

// BookTag relates a book to a tag.
type BookTag struct {
	BookID int64 `bun:",pk"                            gorm:"primaryKey"`
	Book   *Book `bun:"rel:belongs-to,join:book_id=id" gorm:"-"`
	TagID  int64 `bun:",pk"                            gorm:"primaryKey"`
	Tag    *Tag  `bun:"rel:belongs-to,join:tag_id=id"  gorm:"-"`
}

// Code is a type with its own form in the database and without an order.
//
//nolint:recvcheck // what is read is changed, what is written is not
type Code struct{ Letters [2]byte }

// Value implements [driver.Valuer].
func (c Code) Value() (driver.Value, error) { return "code-" + string(c.Letters[:]), nil }

// Scan implements sql.Scanner.
func (c *Code) Scan(src any) error {
	text := fmt.Sprintf("%s", src)
	if len(text) != len("code-xx") {
		return fmt.Errorf("scan a code from %T", src)
	}
	copy(c.Letters[:], text[len("code-"):])
	return nil
}

// Data has the rows of all tables. The relations in its structs are set too, as a database
// would load them.
type Data struct {
	Books     []Book
	Authors   []Author
	Countries []Country
	Reviews   []Review
	Tags      []Tag
	BookTags  []BookTag
}

// link sets the relations. It takes addresses in slices that must not grow afterwards.
func (d *Data) link() *Data {
	for i := range d.Authors {
		a := &d.Authors[i]
		for k := range d.Countries {
			if a.CountryID != nil && d.Countries[k].ID == *a.CountryID {
				a.Country = &d.Countries[k]
			}
		}
	}
	for i := range d.Reviews {
		d.Reviews[i].Author = d.author(d.Reviews[i].AuthorID)
	}
	for i := range d.Books {
		b := &d.Books[i]
		b.Author = d.author(b.AuthorID)
		for _, r := range d.Reviews {
			if r.BookID == b.ID {
				b.Reviews = append(b.Reviews, r)
			}
		}
		for _, bt := range d.BookTags {
			if bt.BookID == b.ID {
				b.Tags = append(b.Tags, d.Tags[bt.TagID-1])
			}
		}
	}
	for i := range d.Authors {
		for _, b := range d.Books {
			if b.AuthorID != nil && *b.AuthorID == d.Authors[i].ID {
				d.Authors[i].Books = append(d.Authors[i].Books, b)
			}
		}
	}
	return d
}

func (d *Data) author(id *int64) *Author {
	for i := range d.Authors {
		if id != nil && d.Authors[i].ID == *id {
			return &d.Authors[i]
		}
	}
	return nil
}
