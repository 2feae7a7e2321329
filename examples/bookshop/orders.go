package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/bunquery"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/query"
)

// Orders are what customers buy. They see their own, and administrators all of them.
type Orders struct {
	db      *bun.DB
	doors   *doors
	secret  []byte // of cursors
	reverse func(name string, values ...any) (string, error)

	one *rest.Endpoint[orderID, OrderView]
}

// Routes implements [rest.Controller].
func (c *Orders) Routes(r *rest.Routes) {
	r.Configure(
		rest.Prefix("/orders"), rest.Tags("orders"), rest.Unknown(rest.RefuseAll),
		rest.Auth(c.doors.customer, c.doors.partner),
		rest.Permit(
			permission.WithMessage(permission.Not(permission.Scope(partnerScope)), "Partners do not order here."),
			permission.Any(
				permission.IsAdmin,
				permission.Owner(func(o *Order) string { return o.UserID }),
				permission.ListScope[Order](func(ctx context.Context) query.Expr {
					return query.Where("user_id", rest.PrincipalOf(ctx).PrincipalID())
				}),
			),
		),
	)
	rest.List(r, "/", c.list, rest.Summary("The orders of the caller"), rest.View(c.view), query.Filter[OrderFilter](),
		page.Cursor(page.By("-placed"), page.Size(10), page.Sign(c.secret), page.LinkHeader()))
	rest.Post(r, "/", c.place, rest.Summary("Buy books"), rest.Status(http.StatusCreated),
		rest.Returns[OutOfStock](http.StatusConflict),
		rest.SendsHeader("Location", "The address of the order."))
	c.one = rest.Get(r, "/{uuid:id}", c.get, rest.Summary("One order"), rest.Fails(http.StatusNotFound))
	rest.Post(r, "/{uuid:id}/cancel", c.cancel, rest.Summary("Give an order up"),
		rest.Fails(http.StatusNotFound, http.StatusConflict))
}

type orderID struct {
	ID string `format:"uuid" path:"id"`
}

// OrderFilter narrows the list of orders.
type OrderFilter struct {
	Since    *time.Time `doc:"Orders from then on." filter:"placed,gte"`
	MinTotal *int64     `doc:"In cents."            filter:"total,gte"`
	Canceled *bool
}

// OrderView is an order as its customer sees it.
type OrderView struct {
	ID       string     `format:"uuid"             json:"id"`
	UserID   string     `json:"userId"`
	Placed   time.Time  `json:"placed"`
	Canceled bool       `json:"canceled"`
	Total    int64      `doc:"In cents."           json:"total"`
	Lines    []LineView `json:"lines"`
	Self     string     `doc:"Where the order is." json:"self"`
}

// LineView is one book of an order.
type LineView struct {
	BookID   int64  `json:"bookId"`
	Quantity int64  `json:"quantity"`
	Price    int64  `doc:"Of one, in cents."  json:"price"`
	Book     string `doc:"Where the book is." json:"book"`
}

func (c *Orders) view(o Order) OrderView {
	// The paths of existing routes and ids cannot fail.
	self, _ := c.one.URL(orderID{o.ID})
	v := OrderView{o.ID, o.UserID, o.Placed, o.Canceled, o.Total, []LineView{}, self}
	for _, l := range o.Lines {
		book, _ := c.reverse("Books.get", l.BookID)
		v.Lines = append(v.Lines, LineView{l.BookID, l.Quantity, l.Price, book})
	}
	return v
}

func (c *Orders) list(context.Context, struct{}) (query.Set[Order], error) {
	return bunquery.Set[Order](c.db, bunquery.With(withLines)), nil
}

func withLines(q *bun.SelectQuery) *bun.SelectQuery { return q.Relation("Lines") }

func (c *Orders) load(ctx context.Context, id string) (*Order, error) {
	order, ok, err := bunquery.Set[*Order](c.db, bunquery.With(withLines)).Where(query.Where("id", id)).First(ctx)
	if err == nil && !ok {
		err = rest.ErrNotFound
	}
	return order, err
}

func (c *Orders) get(ctx context.Context, in orderID) (OrderView, error) {
	order, err := rest.GetOrNotFound(ctx, c.load, in.ID)
	if err != nil {
		return OrderView{}, err
	}
	return c.view(*order), nil
}

// NewOrder is the request for an order.
type NewOrder struct {
	Lines []NewLine `json:"lines" maxItems:"20" minItems:"1"`
}

// NewLine is one book of a new order.
type NewLine struct {
	BookID   int64 `json:"bookId" minimum:"1"`
	Quantity int64 `default:"1"   json:"quantity" maximum:"99" minimum:"1"`
}

// Validate checks the rules that no tag can express.
func (n NewOrder) Validate(context.Context) error {
	var faults []rest.Fault
	seen := map[int64]bool{}
	for i, l := range n.Lines {
		if seen[l.BookID] {
			faults = append(faults, rest.Fault{
				In: "body", Path: []any{"lines", i, "bookId"}, Kind: "duplicate_book",
				Message: "the book is in another line already",
			})
		}
		seen[l.BookID] = true
	}
	if len(faults) > 0 {
		return rest.Invalid(faults...)
	}
	return nil
}

// OutOfStock lists the books of an order that cannot be delivered.
type OutOfStock struct {
	Code    string     `enum:"out_of_stock" json:"code"`
	Missing []Shortage `json:"missing"`
}

// Shortage is a book with too few copies, or a book that does not exist.
type Shortage struct {
	BookID    int64 `json:"bookId"`
	Wanted    int64 `json:"wanted"`
	Available int64 `json:"available"`
}

// place buys either all lines or nothing.
func (c *Orders) place(ctx context.Context, in NewOrder) (OrderView, error) {
	// The price of a book depends on the caller and the time, so both come from services.
	prices, err := rest.Resolve[*PriceList](ctx)
	if err != nil {
		return OrderView{}, err
	}
	order := Order{ID: uuid.NewString(), UserID: rest.PrincipalOf(ctx).PrincipalID(), Placed: prices.At}
	err = c.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		var missing []Shortage
		for _, l := range in.Lines {
			line, short, err := take(ctx, tx, l, prices)
			if err != nil {
				return err
			}
			if short != nil {
				missing = append(missing, *short)
				continue
			}
			line.OrderID = order.ID
			order.Lines = append(order.Lines, line)
			order.Total += line.Price * line.Quantity
		}
		if missing != nil {
			return &rest.Error{Status: http.StatusConflict, Body: OutOfStock{"out_of_stock", missing}}
		}
		if _, err := tx.NewInsert().Model(&order).Exec(ctx); err != nil {
			return fmt.Errorf("store an order: %w", err)
		}
		_, err := tx.NewInsert().Model(&order.Lines).Exec(ctx)
		return err
	})
	if err != nil {
		return OrderView{}, err
	}
	view := c.view(order)
	rest.ResponseOf(ctx).Header().Set("Location", view.Self)
	return view, nil
}

// take takes copies from the shelf, or returns a shortage.
func take(ctx context.Context, tx bun.Tx, l NewLine, prices *PriceList) (*OrderLine, *Shortage, error) {
	var books []Book
	if err := tx.NewSelect().Model(&books).Where("id = ?", l.BookID).Scan(ctx); err != nil {
		return nil, nil, err
	}
	short := &Shortage{BookID: l.BookID, Wanted: l.Quantity}
	if len(books) == 0 {
		return nil, short, nil
	}
	if short.Available = books[0].Stock; short.Available < l.Quantity {
		return nil, short, nil
	}
	_, err := tx.NewUpdate().Model((*Book)(nil)).
		Set("stock = stock - ?", l.Quantity).Set("version = version + 1").Where("id = ?", l.BookID).Exec(ctx)
	return &OrderLine{BookID: l.BookID, Quantity: l.Quantity, Price: prices.Of(books[0])}, nil, err
}

// cancel puts the books back. An order is canceled once.
func (c *Orders) cancel(ctx context.Context, in orderID) (OrderView, error) {
	order, err := rest.GetOrNotFound(ctx, c.load, in.ID)
	if err != nil {
		return OrderView{}, err
	}
	err = c.db.RunInTx(ctx, nil, func(ctx context.Context, tx bun.Tx) error {
		done, err := tx.NewUpdate().Model(order).Set("canceled = TRUE").WherePK().Where("NOT canceled").Exec(ctx)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n == 0 {
			return rest.Conflict("The order is canceled already.")
		}
		for _, l := range order.Lines {
			if _, err := tx.NewUpdate().Model((*Book)(nil)).
				Set("stock = stock + ?", l.Quantity).Set("version = version + 1").Where("id = ?", l.BookID).Exec(ctx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return OrderView{}, err
	}
	order.Canceled = true
	return c.view(*order), nil
}
