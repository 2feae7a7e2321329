package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

// Ticket is what the API shows and takes.
type Ticket struct {
	ID    int64  `json:"id"    readOnly:"true"`
	Title string `json:"title" maxLength:"80"  minLength:"1"`
	Open  bool   `json:"open"  readOnly:"true"`
}

// TicketFilter narrows the list: ?title=door&open=true.
type TicketFilter struct {
	Title *string `filter:"__icontains"`
	Open  *bool
}

// Tickets is a controller. What it depends on are its fields.
type Tickets struct{ all []*Ticket }

// Routes describes the routes.
func (c *Tickets) Routes(r *rest.Routes) {
	r.Configure(rest.Prefix("/tickets"), rest.Tags("tickets"))
	rest.List(r, "/", c.list, page.Number(page.Size(20)), query.Filter[TicketFilter](), query.Order("title", "id"))
	rest.Post(r, "/", c.create, rest.Status(http.StatusCreated))
	rest.Get(r, "/{int:id}", c.get)
	rest.Post(r, "/{int:id}/close", c.close, rest.Fails(http.StatusConflict))
}

func (c *Tickets) list(context.Context, struct{}) ([]*Ticket, error) { return c.all, nil }

func (c *Tickets) create(_ context.Context, in Ticket) (*Ticket, error) {
	in.ID, in.Open = int64(len(c.all)+1), true
	c.all = append(c.all, &in)
	return &in, nil
}

type ticketID struct {
	ID int64 `path:"id"`
}

func (c *Tickets) get(_ context.Context, in ticketID) (*Ticket, error) {
	if in.ID < 1 || in.ID > int64(len(c.all)) {
		return nil, rest.NotFound("There is no such ticket.")
	}
	return c.all[in.ID-1], nil
}

func (c *Tickets) close(ctx context.Context, in ticketID) (rest.NoContent, error) {
	ticket, err := c.get(ctx, in)
	switch {
	case err != nil:
		return rest.NoContent{}, err
	case !ticket.Open:
		return rest.NoContent{}, rest.Conflict("The ticket is closed already.")
	}
	ticket.Open = false
	return rest.NoContent{}, nil
}

// A controller with a group of routes.
func Example() {
	api := rest.New(rest.Title("Desk"))
	api.Register(&Tickets{})
	// http.ListenAndServe("127.0.0.1:8080", api) also serves the document, at /openapi.json.

	for _, request := range []string{
		`POST /tickets {"title":"The door squeaks"}`, `POST /tickets {"title":""}`, `POST /tickets/1/close`,
		`POST /tickets/1/close`, `GET /tickets?title=door`, `GET /tickets/2`,
	} {
		parts := strings.SplitN(request, " ", 3)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest(parts[0], parts[1], strings.NewReader(strings.Join(parts[2:], ""))))
		fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
	}
	// Output:
	// 201 {"id":1,"title":"The door squeaks","open":true}
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.title","pointer":"/title","kind":"string_too_short","message":"must be at least 1 character","limits":{"min_length":1}}]}
	// 204
	// 409 {"type":"about:blank","title":"Conflict","status":409,"detail":"The ticket is closed already.","code":"conflict"}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":1,"title":"The door squeaks","open":false}]}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"There is no such ticket.","code":"not_found"}
}
