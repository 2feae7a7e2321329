package main

import (
	"context"
	"net/http"

	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// Reviews are opinions of customers on books. Everybody reads them; the author of one may edit it.
type Reviews struct {
	db    *bun.DB
	doors *doors
}

// Routes implements [rest.Controller].
func (c *Reviews) Routes(r *rest.Routes) {
	r.Configure(rest.Tags("reviews"), rest.Auth(c.doors.customer), rest.Permit(permission.Any(
		permission.IsAdmin, permission.Owner(func(r *Review) string { return r.UserID }),
	)))
	// No paginator and no page size here: the settings of the API have both.
	rest.List(r, "/books/{int:book_id}/reviews", c.list, rest.Summary("What is said of a book"), rest.NoAuth(),
		rest.Open(),
		query.Filter[ReviewFilter](), query.Order("stars", "written"), query.OrderDefault("-written"))
	rest.Post(r, "/books/{int:book_id}/reviews", c.write, rest.Summary("Say something of a book"),
		rest.Permit(permission.IsAuthenticated),
		rest.Status(http.StatusCreated), rest.Fails(http.StatusNotFound, http.StatusConflict))
	rest.Handle(r, []string{http.MethodPut, http.MethodPatch}, "/reviews/{int:id}", c.edit,
		rest.Summary("Change a review"), rest.Fails(http.StatusNotFound))
	rest.Delete(r, "/reviews/{int:id}", c.remove, rest.Summary("Take a review back"), rest.Fails(http.StatusNotFound))
}

// ReviewFilter narrows the list of reviews.
type ReviewFilter struct {
	MinStars *int    `filter:"stars,gte" maximum:"5" minimum:"1"`
	By       *string `filter:"user_id"`
}

type reviewsOf struct {
	BookID int64 `path:"book_id"`
}

func (c *Reviews) list(_ context.Context, in reviewsOf) (query.Set[Review], error) {
	return bunquery.Set[Review](c.db).Where(query.Where("book_id", in.BookID)), nil
}

// Opinion is a new review.
type Opinion struct {
	BookID int64  `json:"-"     path:"book_id"`
	Stars  int    `json:"stars" maximum:"5"    minimum:"1"`
	Text   string `default:""   json:"text"    maxLength:"2000"`
}

func (c *Reviews) write(ctx context.Context, in Opinion) (Review, error) {
	clock, err := rest.Resolve[Clock](ctx)
	if err != nil {
		return Review{}, err
	}
	review := Review{
		BookID: in.BookID, UserID: rest.PrincipalOf(ctx).PrincipalID(), Stars: in.Stars, Text: in.Text, Written: clock(),
	}
	_, err = c.db.NewInsert().Model(&review).Exec(ctx)
	if broken, ok := crud.ViolationOf(err); ok {
		if broken.Constraint == crud.Unique {
			return review, rest.Conflict("You have written a review of this book already.")
		}
		return review, &rest.Error{Status: http.StatusNotFound, Detail: "There is no such book.", Err: err}
	}
	return review, err
}

// Edit is the changes of a review. A field that is missing or null stays unchanged.
type Edit struct {
	ID    int64            `json:"-"     path:"id"`
	Stars rest.Opt[int]    `json:"stars" maximum:"5"      minimum:"1"`
	Text  rest.Opt[string] `json:"text"  maxLength:"2000"`
}

func (c *Reviews) load(ctx context.Context, id int64) (*Review, error) {
	return find[Review](ctx, c.db, id)
}

func (c *Reviews) edit(ctx context.Context, in Edit) (*Review, error) {
	review, err := rest.GetOrNotFound(ctx, c.load, in.ID)
	if err != nil {
		return nil, err
	}
	review.Stars, review.Text = in.Stars.Or(review.Stars), in.Text.Or(review.Text)
	_, err = c.db.NewUpdate().Model(review).WherePK().Exec(ctx)
	return review, err
}

type reviewID struct {
	ID int64 `path:"id"`
}

func (c *Reviews) remove(ctx context.Context, in reviewID) (rest.NoContent, error) {
	review, err := rest.GetOrNotFound(ctx, c.load, in.ID)
	if err != nil {
		return rest.NoContent{}, err
	}
	_, err = c.db.NewDelete().Model(review).WherePK().Exec(ctx)
	return rest.NoContent{}, err
}
