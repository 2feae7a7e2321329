package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

type Accounts struct{}

func (c Accounts) Routes(r *rest.Routes) {
	rest.Get(r, "/me", c.me)                        // with what the API asks for
	rest.Get(r, "/status", c.status, rest.NoAuth()) // with nothing
}

func (Accounts) me(ctx context.Context, _ struct{}) (string, error) {
	return rest.PrincipalOf(ctx).PrincipalID(), nil
}

func (Accounts) status(context.Context, struct{}) (string, error) { return "fine", nil }

// An API that takes a key in a header or a token, and a route that takes neither.
func Example() {
	keys := auth.Keys(map[string]*rest.User{"s3cret": {ID: "ada"}})
	tokens := func(_ context.Context, token string) (*rest.User, error) {
		if !auth.Equal(token, "t0ken") {
			return nil, rest.ErrBadCredentials
		}
		return &rest.User{ID: "bob"}, nil
	}
	api := rest.New(rest.Auth(auth.APIKeyHeader("X-Key", keys), auth.Bearer(tokens)))
	api.Register(Accounts{})

	for _, line := range []string{
		"/me X-Key: s3cret", "/me Authorization: Bearer t0ken", "/me Authorization: Bearer guess", "/me X-Nothing: x",
		"/status X-Nothing: x",
	} {
		path, header, _ := strings.Cut(line, " ")
		name, value, _ := strings.Cut(header, ": ")
		r := httptest.NewRequest(http.MethodGet, path, nil)
		r.Header.Set(name, value)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	// Output:
	// 200 "ada"
	// 200 "bob"
	// 401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"Incorrect authentication credentials.","code":"unauthorized"}
	// 401 {"type":"about:blank","title":"Unauthorized","status":401,"detail":"Authentication credentials were not provided.","code":"unauthorized"}
	// 200 "fine"
}
