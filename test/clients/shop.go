// Package clients has an API with what clients find hard, for the tests that generate clients
// of it in three languages.
package clients

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// Paper is a form of a book.
type Paper struct {
	Kind  string `const:"paper" json:"kind"`
	Pages int    `json:"pages"  minimum:"1"`
}

// Audio is another one.
type Audio struct {
	Kind    string `const:"audio"  json:"kind"`
	Minutes int    `json:"minutes" minimum:"1"`
}

// Form is the format of a book.
type Form struct {
	Paper *Paper
	Audio *Audio
}

// Book is what the shop has.
type Book struct {
	ID       int64            `json:"id"     readOnly:"true"`
	Title    string           `json:"title"  minLength:"1"`
	Released time.Time        `format:"date" json:"released"`
	Tags     []string         `json:"tags"   required:"false"`
	Copies   int              `default:"1"   json:"copies"`
	Form     rest.OneOf[Form] `json:"form"`
	// Notes and Prices have items that an answer may have as null, and a request may not.
	Notes  []*Note           `json:"notes,omitempty"`
	Prices map[string]*Price `json:"prices,omitempty"`
}

// Note is what somebody says of a book.
type Note struct {
	Text string `json:"text"`
}

// Price is that of a book in a country.
type Price struct {
	Cents int `json:"cents" minimum:"0"`
}

// Versioned is a book with its version.
type Versioned struct {
	Version string `doc:"The version of the book." header:"ETag"`
	Body    Book
}

// Shop keeps one book.
type Shop struct {
	mu      sync.Mutex
	book    Book
	version int
}

// NewShop returns an API of a shop with a book.
func NewShop() *rest.API {
	s := &Shop{version: 1, book: Book{
		ID: 1, Title: "Emma", Released: time.Date(1815, 12, 23, 0, 0, 0, 0, time.UTC), Tags: []string{}, Copies: 1,
		Form: rest.One(Form{Paper: &Paper{Pages: 474}}),
	}}
	api := rest.New(rest.Title("Shop"))
	api.Register(s, rest.Prefix("/books"))
	return api
}

type oneBook struct {
	ID int64 `path:"id"`
}

// Routes implements [rest.Controller].
func (s *Shop) Routes(r *rest.Routes) {
	rest.List(r, "/", s.list, rest.OperationID("listBooks"), page.Number(page.LinkHeader()), query.Order("title", "id"))
	rest.Get(r, "/{int:id}", s.get, rest.OperationID("getBook"))
	rest.Put(r, "/{int:id}", s.put, rest.OperationID("putBook"), rest.Fails(http.StatusPreconditionFailed))
}

func (s *Shop) tag() string { return `"v` + strconv.Itoa(s.version) + `"` }

func (s *Shop) list(context.Context, struct{}) ([]Book, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []Book{s.book}, nil
}

func (s *Shop) get(_ context.Context, in oneBook) (*Versioned, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.ID != s.book.ID {
		return nil, rest.ErrNotFound
	}
	return &Versioned{Version: s.tag(), Body: s.book}, nil
}

func (s *Shop) put(_ context.Context, in struct {
	oneBook

	Match string `doc:"The version to change." header:"If-Match" required:"true"`
	Body  Book
},
) (*Versioned, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in.Match != s.tag() {
		return nil, &rest.Error{Status: http.StatusPreconditionFailed, Detail: "The book has changed since."}
	}
	s.version++
	in.Body.ID = in.ID
	if in.Body.Tags == nil {
		in.Body.Tags = []string{}
	}
	s.book = in.Body
	return &Versioned{Version: s.tag(), Body: s.book}, nil
}
