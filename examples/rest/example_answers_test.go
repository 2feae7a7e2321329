package main_test

import (
	"context"
	"net/http"

	"github.com/spoolhq/spool/rest"
)

// Desks are taken by one person each.
type Desks struct{ owners map[int64]string }

type Desk struct {
	ID int64 `json:"id"`
}

type Taken struct {
	By string `json:"by"`
}

type desk struct {
	ID int64 `path:"id"`
}

var taken = rest.Also[Taken](http.StatusConflict)

func (c *Desks) Routes(r *rest.Routes) {
	rest.Put(r, "/desks/{int:id}", c.take, rest.Status(http.StatusCreated), taken)
}

func (c *Desks) take(_ context.Context, in desk) (rest.Answer[Desk], error) {
	if by, ok := c.owners[in.ID]; ok {
		return rest.Answer[Desk]{Other: taken.With(Taken{By: by})}, nil
	}
	return rest.Answer[Desk]{Body: Desk(in)}, nil
}

func Example_answers() {
	api := rest.New(silent())
	api.Register(&Desks{map[int64]string{2: "ada"}})
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/mistaken", func(context.Context, struct{}) (*rest.Reply, error) {
			return &rest.Reply{Body: Taken{By: "ada"}}, nil
		}, rest.Returns[Desk](http.StatusOK))
	}))
	show(api, request{method: http.MethodPut, target: "/desks/1"})
	show(api, request{method: http.MethodPut, target: "/desks/2"})
	show(api, get("/mistaken"))

	// Output:
	// 201 {"id":1}
	// 409 {"by":"ada"}
	// 500 {"type":"about:blank","title":"Internal Server Error","status":500,"detail":"The route declares Desk for the status 200, and its handler answered Taken.","code":"answer_mismatch"}
}
