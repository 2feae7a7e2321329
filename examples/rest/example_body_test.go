package main_test

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/spoolhq/spool/rest"
)

type purchase struct {
	Body struct {
		Lines []line `json:"lines"`
	}
}

type line struct {
	Price float64 `json:"price"`
	Gift  bool    `json:"gift,omitempty"`
}

func (l line) Validate(context.Context) error {
	if l.Gift && l.Price > 0 {
		return rest.Invalid(rest.Fault{Path: []any{"price"}, Kind: "value_error", Message: "must be 0 for a gift"})
	}
	return nil
}

func Example_nestedValidate() {
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Post(r, "/purchases", func(_ context.Context, in purchase) (int, error) { return len(in.Body.Lines), nil })
	}))
	show(api, request{
		method: http.MethodPost, target: "/purchases", body: `{"lines": [{"price": 5}, {"price": 3, "gift": true}]}`,
	})

	// Output:
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"body.lines[1].price","pointer":"/lines/1/price","kind":"value_error","message":"must be 0 for a gift"}]}
}

type stay struct {
	From  time.Time     `format:"date"     json:"from"`
	Check time.Time     `format:"time"     json:"check"`
	Long  time.Duration `format:"duration" json:"long"`
	Site  url.URL       `json:"site"`
}

func Example_dates() {
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) {
		rest.Post(r, "/stays", func(_ context.Context, in stay) (stay, error) { return in, nil })
	}))
	body := `{"from": "2026-11-22", "check": "15:00:00", "long": "P2D", "site": "https://example.com"}`
	show(api, request{method: http.MethodPost, target: "/stays", body: body})

	// Output:
	// 200 {"from":"2026-11-22","check":"15:00:00","long":"PT48H","site":"https://example.com"}
}
