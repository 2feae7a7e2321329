package main_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/permission"
	"github.com/spoolhq/spool/rest/throttle"
)

var errStock = errors.New("stock: row is locked")

// failures is an API that fails in every way.
func failures(renderer rest.ErrorRenderer) *rest.API {
	key := auth.APIKeyHeader("X-Key", auth.Keys(map[string]*rest.User{"s3cret": {ID: "ada"}}))
	api := rest.New(silent(), rest.Errors(renderer), rest.MapError(func(err error) *rest.Error {
		if errors.Is(err, errStock) {
			return &rest.Error{Status: http.StatusConflict, Code: "locked", Detail: "Try again.", Err: err}
		}
		return nil
	}))
	fail := func(err error) func(context.Context, struct{}) (string, error) {
		return func(context.Context, struct{}) (string, error) { return "", err }
	}
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/private", fail(nil), rest.Auth(key), rest.Permit(permission.IsAdmin))
		rest.Get(r, "/slow", fail(nil), rest.Throttles(throttle.Global("1/hour")))
		rest.Get(r, "/missing", fail(rest.ErrNotFound))
		rest.Get(r, "/stock", fail(fmt.Errorf("sell: %w", errStock)))
		rest.Get(r, "/broken", fail(errors.New("dial tcp 10.0.0.7:5432: refused")))
		rest.Get(r, "/own", fail(&rest.Error{Status: http.StatusPaymentRequired, Body: map[string]string{"pay": "first"}}))
		rest.List(r, "/books", func(context.Context, struct{}) ([]Book, error) { return nil, nil }, page.Number())
		rest.Post(r, "/orders/{int:shop}", take)
	}))
	return api
}

func ask(renderer rest.ErrorRenderer) {
	api := failures(renderer)
	show(api, request{method: http.MethodPost, target: "/orders/3", body: `{`})
	show(api, get("/private"))
	show(api, get("/private", "s3cret"))
	show(api, get("/missing"))
	show(api, get("/books?page=2"))
	show(api, request{method: http.MethodPost, target: "/missing"})
	show(api, get("/stock"))
	show(api, get("/books?page=0"))
	send(api, get("/slow"))
	show(api, get("/slow"))
	show(api, get("/broken"))
	show(api, get("/own"))
}

func Example_problemErrors() {
	ask(rest.ProblemErrors)

	// Output:
	// 400 {"type":"about:blank","title":"Bad Request","status":400,"detail":"The body is not valid JSON: unexpected end of the text at byte 1.","code":"malformed_body"}
	// 401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"Authentication credentials were not provided.","code":"unauthorized"}
	// 403 {"type":"about:blank","title":"Forbidden","status":403,"detail":"Only administrators may do this.","code":"permission_denied"}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Not found.","code":"not_found"}
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Invalid page. 2 That page contains no results","code":"page_not_found"}
	// 405 {"type":"about:blank","title":"Method Not Allowed","status":405,"detail":"Method \"POST\" not allowed.","code":"method_not_allowed"}
	// 409 {"type":"about:blank","title":"Conflict","status":409,"detail":"Try again.","code":"locked"}
	// 422 {"type":"about:blank","title":"Unprocessable Entity","status":422,"detail":"The request is not valid.","code":"validation_failed","errors":[{"location":"query.page","kind":"greater_than_equal","message":"must be at least 1","limits":{"ge":1}}]}
	// 429 {"type":"about:blank","title":"Too Many Requests","status":429,"detail":"Request was throttled. Expected available in 3600 seconds.","code":"throttled"}
	// 500 {"type":"about:blank","title":"Internal Server Error","status":500,"detail":"Internal error.","code":"internal"}
	// 402 {"pay":"first"}
}

func Example_detailErrors() {
	ask(rest.DetailErrors)

	// Output:
	// 400 {"detail":"Cannot parse request body"}
	// 401 {"detail":"Unauthorized"}
	// 403 {"detail":"Only administrators may do this."}
	// 404 {"detail":"Not found."}
	// 404 {"detail":"Invalid page. 2 That page contains no results"}
	// 405 {"detail":"Method \"POST\" not allowed."}
	// 409 {"detail":"Try again."}
	// 422 {"detail":[{"type":"greater_than","loc":["query","page"],"msg":"Input should be greater than 0","ctx":{"gt":0}}]}
	// 429 {"detail":"Request was throttled. Expected available in 3600 seconds."}
	// 500 {"detail":"A server error occurred."}
	// 402 {"pay":"first"}
}
