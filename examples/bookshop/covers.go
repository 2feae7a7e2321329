package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
)

// Covers are the pictures of books.
type Covers struct {
	db    *bun.DB
	doors *doors
}

// Routes implements [rest.Controller].
func (c *Covers) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/books/{int:book_id}/cover"), rest.Tags("covers"),
		rest.Auth(c.doors.customer, c.doors.partner), rest.Permit(mayEdit))
	rest.Get(r, "/", c.get, rest.Summary("The picture of a book"), rest.NoAuth(), rest.Open(),
		rest.Fails(http.StatusNotFound),
		rest.Produces("image/png", "image/jpeg"), rest.Returns[rest.NoContent](http.StatusNotModified),
		rest.SendsHeader("ETag", "The version of the picture."),
		rest.ReadsHeader("If-None-Match", "An ETag that the client has."))
	rest.Put(r, "/", c.put, rest.Summary("Add or replace the picture of a book"), rest.MaxBody(300<<10),
		rest.Status(http.StatusCreated), replaced, rest.Fails(http.StatusNotFound))
	rest.Delete(r, "/", c.remove, rest.Summary("Remove the picture of a book"), rest.Fails(http.StatusNotFound))
}

// mayEdit lets administrators change the catalog, and partners with a key for it.
var mayEdit = permission.Any(permission.IsAdmin, permission.Scope(catalogScope))

type coverOf struct {
	BookID int64 `path:"book_id"`
}

// get returns the picture. A client can ask for a part of it (Range), or whether it has changed
// (If-None-Match).
func (c *Covers) get(ctx context.Context, in coverOf) (*rest.File, error) {
	cover, err := find[Cover](ctx, c.db, in.BookID)
	if err != nil {
		return nil, err
	}
	rest.ResponseOf(ctx).Header().Set("ETag", `"`+cover.Digest[:32]+`"`)
	rest.ResponseOf(ctx).Header().Set("Cache-Control", "public, max-age=60")
	return &rest.File{Content: bytes.NewReader(cover.Image), Type: cover.Type, Modified: cover.Changed}, nil
}

// Upload is a form with a picture.
type Upload struct {
	BookID int64                 `path:"book_id"`
	Image  *multipart.FileHeader `contentType:"image/png,image/jpeg" doc:"At most 200 kB." file:"image" maxSize:"200KB" required:"true"`
}

// CoverView describes a cover.
type CoverView struct {
	Type   string `json:"type"`
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// replaced is the answer for a book that had a picture.
var replaced = rest.Also[CoverView](http.StatusOK)

// coverAnswer is 201 with the view, or replaced.
type coverAnswer = rest.Answer[CoverView]

func (c *Covers) put(ctx context.Context, in Upload) (coverAnswer, error) {
	image, err := readImage(in.Image)
	if err != nil {
		return coverAnswer{}, err
	}
	clock, err := rest.Resolve[Clock](ctx)
	if err != nil {
		return coverAnswer{}, err
	}
	if _, err := find[Book](ctx, c.db, in.BookID); err != nil {
		return coverAnswer{}, err
	}
	known, err := c.db.NewSelect().Model((*Cover)(nil)).Where("book_id = ?", in.BookID).Exists(ctx)
	if err != nil {
		return coverAnswer{}, err
	}
	digest := sha256.Sum256(image)
	cover := Cover{
		BookID: in.BookID, Type: http.DetectContentType(image), Digest: hex.EncodeToString(digest[:]), Image: image,
		Changed: clock(),
	}
	if _, err := c.db.NewInsert().Model(&cover).On("CONFLICT (book_id) DO UPDATE").Exec(ctx); err != nil {
		return coverAnswer{}, fmt.Errorf("store a cover: %w", err)
	}
	view := CoverView{cover.Type, len(image), cover.Digest}
	if known {
		return coverAnswer{Other: replaced.With(view)}, nil
	}
	return coverAnswer{Body: view}, nil
}

// readImage reads an uploaded file and checks that it really is a picture.
func readImage(header *multipart.FileHeader) ([]byte, error) {
	file, err := header.Open()
	if err != nil {
		return nil, err
	}
	defer file.Close()
	image, err := io.ReadAll(file)
	if err != nil {
		return nil, err
	}
	if found := http.DetectContentType(image); found != header.Header.Get("Content-Type") {
		return nil, rest.Invalid(rest.Fault{
			In: "file", Path: []any{"image"}, Kind: "file_type", Message: "the file is not what its type says",
		})
	}
	return image, nil
}

// remove answers 204 whether or not there was a cover.
func (c *Covers) remove(ctx context.Context, in coverOf) (rest.NoContent, error) {
	_, err := c.db.NewDelete().Model((*Cover)(nil)).Where("book_id = ?", in.BookID).Exec(ctx)
	return rest.NoContent{}, err
}
