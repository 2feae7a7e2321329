package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"mime/multipart"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// Partners exchange the whole catalog with the shop, by an API key.
type Partners struct {
	db    *bun.DB
	doors *doors
}

// Routes implements [rest.Controller].
func (c *Partners) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/partner"), rest.Tags("partners"),
		rest.Auth(c.doors.partner), rest.Permit(permission.Scope(partnerScope)))
	rest.Get(r, "/books.csv", c.export, rest.Summary("The catalog as CSV"), rest.Produces("text/csv"))
	// The old path of the catalog. Each answer announces when it ends.
	rest.Get(r, "/catalog.csv", c.export, rest.Name("export_old"), rest.Summary("The catalog as CSV, at its old address"),
		rest.Produces("text/csv"),
		rest.Sunset(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC),
			time.Date(2027, time.July, 1, 0, 0, 0, 0, time.UTC)))
	rest.Post(r, "/books.jsonl", c.load, rest.Summary("Add books from JSON lines"),
		rest.Permit(permission.All(permission.Scope(partnerScope), permission.Scope(catalogScope))))
}

// export reads the books in pieces, so that it needs little memory even for a slow client.
func (c *Partners) export(context.Context, struct{}) (*rest.Stream, error) {
	return &rest.Stream{
		Type: "text/csv; charset=utf-8",
		Write: func(ctx context.Context, w io.Writer, flush func() error) error {
			out := csv.NewWriter(w)
			if err := out.Write([]string{"isbn", "title", "price", "stock"}); err != nil {
				return err
			}
			books := bunquery.Set[Book](c.db).OrderBy("id")
			for last := int64(0); ; {
				piece, err := books.Where(query.Where("id__gt", last)).Fetch(ctx, 0, 200)
				if err != nil || len(piece) == 0 {
					out.Flush()
					return err
				}
				for _, b := range piece {
					last = b.ID
					if err := out.Write([]string{
						b.ISBN, b.Title, strconv.FormatInt(b.Price, 10), strconv.FormatInt(b.Stock, 10),
					}); err != nil {
						return err
					}
				}
				out.Flush()
				if err := flush(); err != nil {
					return err
				}
			}
		},
	}, nil
}

// BookFile is a form with a file of books.
type BookFile struct {
	Books *multipart.FileHeader `contentType:"application/jsonl,application/octet-stream" doc:"A book a line, as POST /books takes it." file:"books" maxSize:"5MB" required:"true"`
}

// Loaded is the result for one line.
type Loaded struct {
	Line  int    `json:"line"`
	ID    int64  `doc:"Of the new book." json:"id,omitempty"`
	Error string `json:"error,omitempty"`
}

// load answers each line as soon as its book is stored.
func (c *Partners) load(ctx context.Context, in BookFile) (rest.Lines[Loaded], error) {
	file, err := in.Books.Open()
	if err != nil {
		return rest.Lines[Loaded]{}, err
	}
	return rest.Lines[Loaded]{Items: c.loadLines(ctx, file)}, nil
}

func (c *Partners) loadLines(ctx context.Context, file io.ReadCloser) iter.Seq2[Loaded, error] {
	return func(yield func(Loaded, error) bool) {
		defer file.Close()
		lines := bufio.NewScanner(file)
		for n := 1; lines.Scan(); n++ {
			id, err := c.loadLine(ctx, lines.Bytes())
			result := Loaded{Line: n, ID: id}
			if err != nil {
				result.Error = err.Error()
			}
			if !yield(result, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(Loaded{}, fmt.Errorf("read lines of books: %w", err))
		}
	}
}

func (c *Partners) loadLine(ctx context.Context, line []byte) (int64, error) {
	var book Book
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&book); err != nil {
		return 0, rest.Errorf(http.StatusUnprocessableEntity, "the line is not a book")
	}
	book.ID, book.Version, book.Author = 0, 1, nil
	_, err := c.db.NewInsert().Model(&book).Exec(ctx)
	if broken, ok := crud.ViolationOf(err); ok {
		return 0, rest.Errorf(http.StatusConflict, "the book breaks a rule: %s", broken.Constraint)
	}
	if err != nil {
		return 0, rest.Errorf(http.StatusInternalServerError, "the book could not be stored")
	}
	return book.ID, nil
}

// registerStock is an operation of huma itself, behind the same door as the others: a
// program that comes from huma brings what it has.
func registerStock(api *rest.API, db *bun.DB, d *doors) {
	type input struct {
		ISBN string `path:"isbn" pattern:"^97[89][0-9]{10}$"`
	}
	type output struct{ Body Stock }
	op := rest.Guard(api, huma.Operation{
		OperationID: "Partners_stock", Method: http.MethodGet, Path: "/partner/stock/{isbn}",
		Summary: "How many there are of a book", Tags: []string{"partners"}, Errors: []int{http.StatusNotFound},
	}, rest.Auth(d.partner), rest.Permit(permission.Scope(partnerScope)))
	huma.Register(api.Huma(), op, func(ctx context.Context, in *input) (*output, error) {
		var out output
		err := db.NewSelect().Model((*Book)(nil)).Column("id", "stock").Where("isbn = ?", in.ISBN).Scan(ctx, &out.Body.BookID,
			&out.Body.Stock)
		if err != nil {
			return nil, huma.Error404NotFound("There is no such book.")
		}
		return &out, nil
	})
}
