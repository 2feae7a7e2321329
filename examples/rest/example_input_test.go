package main_test

import (
	"context"
	"fmt"
	"net/http"

	"github.com/spoolhq/spool/rest"
)

type order struct {
	Shop   int64    `path:"shop"`
	Notify bool     `query:"notify"   default:"true"`
	Tags   []string `query:"tag"      maxItems:"3"`
	Trace  string   `header:"X-Trace"`

	Body struct {
		Title    string `json:"title"              maxLength:"40" minLength:"1"`
		Quantity int    `json:"quantity,omitempty" default:"1"    maximum:"100" minimum:"0"`
		Gift     bool   `json:"gift,omitempty"     default:"true"`
	}
}

func (o order) Validate(context.Context) error {
	if o.Body.Gift && o.Body.Quantity > 10 {
		return rest.Invalid(rest.Fault{
			In: "body", Path: []any{"gift"}, Kind: "value_error", Message: "Gifts are of ten at most",
		})
	}
	return nil
}

func take(_ context.Context, in order) (string, error) {
	return fmt.Sprintf("%d %t %v %q %+v", in.Shop, in.Notify, in.Tags, in.Trace, in.Body), nil
}

func orders(options ...rest.APIOption) *rest.API {
	api := rest.New(append(options, silent())...)
	api.Register(routes(func(r *rest.Routes) { rest.Post(r, "/shops/{int:shop}/orders", take) }))
	return api
}

func Example_input() {
	api := orders()
	post := func(target, body string) {
		show(api, request{method: http.MethodPost, target: target, body: body, header: map[string]string{"X-Trace": "t1"}})
	}
	post("/shops/3/orders", `{"title": "Emma"}`)
	post("/shops/3/orders?notify=no&tag=a&tag=b", `{"title": "Emma", "quantity": 0, "gift": false}`)
	post("/shops/3/orders", `{"title": "Emma", "quantity": 11}`)
	post("/shops/3/orders?notify=maybe", `{"title": "", "quantity": "2", "colour": "red"}`)
	post("/shops/3/orders", `{"title": "Emma", "quantity": 1, "QUANTITY": 9999}`)
	post("/shops/3/orders", `{"title": `)

	// Output:
	// 200 "3 true [] \"t1\" {Title:Emma Quantity:1 Gift:true}"
	// 200 "3 false [a b] \"t1\" {Title:Emma Quantity:0 Gift:false}"
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.gift","pointer":"/gift","kind":"value_error","message":"Gifts are of ten at most"}]}
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"query.notify","kind":"bool_parsing","message":"must be true or false"},{"location":"body.title","pointer":"/title","kind":"string_too_short","message":"must be at least 1 character","limits":{"min_length":1}},{"location":"body.quantity","pointer":"/quantity","kind":"int_type","message":"must be a whole number"},{"location":"body.colour","pointer":"/colour","kind":"extra_forbidden","message":"is not a known field"}]}
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.QUANTITY","pointer":"/QUANTITY","kind":"key_case_mismatch","message":"must be spelled 'quantity'","limits":{"expected":"quantity"}}]}
	// 400 {"type":"about:blank","title":"Bad Request","status":400,"detail":"The body is not valid JSON: unexpected end of the text at byte 10.","code":"malformed_body"}
}

type change struct {
	ID    int64            `path:"id"`
	Title rest.Opt[string] `json:"title,omitzero"`
	Note  *string          `json:"note,omitempty"`
}

func Example_presence() {
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Patch(r, "/books/{int:id}", func(ctx context.Context, in change) (string, error) {
			title, set := in.Title.Get()
			return fmt.Sprintf("%q set=%t null=%t absent=%t note=%t %t", title, set, in.Title.IsNull(), in.Title.IsAbsent(),
				in.Note != nil, rest.Sent(ctx, "note")), nil
		})
	}))
	for _, body := range []string{`{"title": "Emma"}`, `{"title": null, "note": null}`, `{}`} {
		show(api, request{method: http.MethodPatch, target: "/books/7", body: body})
	}

	// Output:
	// 200 "\"Emma\" set=true null=false absent=false note=false false"
	// 200 "\"\" set=false null=true absent=false note=false true"
	// 200 "\"\" set=false null=false absent=true note=false false"
}
