package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
)

var users = auth.Keys(map[string]*rest.User{"s3cret": {ID: "ada"}})

// show sends a request to an API with an authenticator, and returns the answer.
func show(a rest.Authenticator, change func(r *http.Request)) string {
	r := httptest.NewRequest(http.MethodGet, "/me", nil)
	change(r)
	w := httptest.NewRecorder()
	newAPI(a).ServeHTTP(w, r)
	if w.Code == http.StatusOK {
		return fmt.Sprint(w.Code, " ", w.Body)
	}
	return fmt.Sprintln(w.Code, w.Header().Get("WWW-Authenticate"))
}

func ExampleAPIKeyQuery() {
	key := auth.APIKeyQuery("key", users)
	fmt.Print(show(key, func(r *http.Request) { r.URL.RawQuery = "key=s3cret" }))
	fmt.Print(show(key, func(*http.Request) {}))
	// Output:
	// 200 "ada"
	// 401 ApiKey realm="api", in="query", name="key"
}

func ExampleAPIKeyHeader() {
	key := auth.APIKeyHeader("X-Key", users)
	fmt.Print(show(key, func(r *http.Request) { r.Header.Set("X-Key", "s3cret") }))
	fmt.Print(show(key, func(r *http.Request) { r.Header.Set("X-Key", "guess") }))
	// Output:
	// 200 "ada"
	// 401 ApiKey realm="api", in="header", name="X-Key"
}

func ExampleAPIKeyCookie() {
	key := auth.APIKeyCookie("key", users)
	fmt.Print(show(key, func(r *http.Request) { r.Header.Set("Cookie", "key=s3cret") }))
	// Output: 200 "ada"
}

func ExampleBearer() {
	bearer := auth.Bearer(func(_ context.Context, token string) (*rest.User, error) {
		if token != "t0ken" { // a database compares hashes
			return nil, rest.ErrBadCredentials
		}
		return &rest.User{ID: "ada"}, nil
	}, auth.Realm("shop"))
	fmt.Print(show(bearer, func(r *http.Request) { r.Header.Set("Authorization", "Bearer t0ken") }))
	fmt.Print(show(bearer, func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") }))
	fmt.Print(show(bearer, func(*http.Request) {}))
	// Output:
	// 200 "ada"
	// 401 Bearer realm="shop", error="invalid_token"
	// 401 Bearer realm="shop"
}

func ExampleBasic() {
	basic := auth.Basic(func(_ context.Context, user, password string) (*rest.User, error) {
		if user != "ada" || !auth.Equal(password, "correct horse") {
			return nil, rest.ErrBadCredentials
		}
		return &rest.User{ID: user}, nil
	})
	fmt.Print(show(basic, func(r *http.Request) { r.SetBasicAuth("ada", "correct horse") }))
	fmt.Print(show(basic, func(r *http.Request) { r.SetBasicAuth("ada", "battery staple") }))
	// Output:
	// 200 "ada"
	// 401 Basic realm="api", charset="UTF-8"
}

func ExampleSession() {
	byID := func(_ context.Context, id string) (*rest.User, error) { return &rest.User{ID: id}, nil }
	sessions := auth.Session(&auth.MemorySessions{}, byID)

	login := httptest.NewRequest(http.MethodPost, "/login", nil)
	cookie, err := sessions.Login(login, &rest.User{ID: "ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(show(sessions, func(r *http.Request) { r.AddCookie(cookie) }))
	// Output: 200 "ada"
}

func ExampleKeys() {
	lookup := auth.Keys(map[string]*rest.User{"s3cret": {ID: "ada"}})
	user, err := lookup(context.Background(), "s3cret")
	fmt.Println(user.ID, err)
	_, err = lookup(context.Background(), "guess")
	fmt.Println(err)
	// Output:
	// ada <nil>
	// bad credentials
}
