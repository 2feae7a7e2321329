package throttle_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/throttle"
)

// Greeter says hello.
type Greeter struct{ limit rest.Throttle }

// Routes implements [rest.Controller].
func (g *Greeter) Routes(r *rest.Routes) {
	rest.Get(r, "/hello", g.hello, rest.Throttles(g.limit))
}

func (g *Greeter) hello(context.Context, struct{}) (string, error) { return "hello", nil }

// ask makes requests and returns their statuses.
func ask(limit rest.Throttle, keys ...string) string {
	var b strings.Builder
	users := auth.Keys(map[string]*rest.User{"key of ada": {ID: "ada"}, "key of bob": {ID: "bob"}})
	api := rest.New(rest.Auth(auth.APIKeyHeader("X-Key", users), rest.Anonymous))
	api.Register(&Greeter{limit: limit})
	for _, key := range keys {
		r := httptest.NewRequest(http.MethodGet, "/hello", nil)
		r.Header.Set("X-Key", key)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		fmt.Fprintf(&b, "%q %d\n", key, w.Code)
	}
	return b.String()
}

func ExamplePerUser() {
	fmt.Print(ask(throttle.PerUser("1/min"), "key of ada", "key of ada", "key of bob"))
	// Output:
	// "key of ada" 200
	// "key of ada" 429
	// "key of bob" 200
}

func ExampleAnonymous() {
	fmt.Print(ask(throttle.Anonymous("1/min"), "", "", "key of ada", "key of ada"))
	// Output:
	// "" 200
	// "" 429
	// "key of ada" 200
	// "key of ada" 200
}

func ExamplePerClient() {
	// All of these come from one address.
	fmt.Print(ask(throttle.PerClient("2/min"), "", "key of ada", "key of bob"))
	// Output:
	// "" 200
	// "key of ada" 200
	// "key of bob" 429
}

func ExampleScoped() {
	counter := throttle.Memory(0)
	search := throttle.Scoped("search", "1/min", throttle.Count(counter))
	upload := throttle.Scoped("upload", "1/min", throttle.Count(counter))
	fmt.Print(ask(search, "key of ada", "key of ada"))
	fmt.Print(ask(upload, "key of ada"))
	// Output:
	// "key of ada" 200
	// "key of ada" 429
	// "key of ada" 200
}

func ExampleGlobal() {
	fmt.Print(ask(throttle.Global("2/s"), "key of ada", "key of bob", ""))
	// Output:
	// "key of ada" 200
	// "key of bob" 200
	// "" 429
}

func ExampleBy() {
	perTenant := throttle.By("tenant", "1/min", func(ctx context.Context) (string, bool) {
		user, ok := rest.PrincipalAs[*rest.User](ctx)
		if !ok {
			return "", false
		}
		return user.ID[:1], true // a tenant is a letter here
	})
	fmt.Print(ask(perTenant, "key of ada", "key of ada"))
	// Output:
	// "key of ada" 200
	// "key of ada" 429
}

func ExampleParse() {
	for _, text := range []string{"100/min", "5/10s", "20/2hours", "often"} {
		rate, err := throttle.Parse(text)
		fmt.Println(rate, err)
	}
	// Output:
	// 100/min <nil>
	// 5/10s <nil>
	// 20/2hour <nil>
	// 0/0s rate "often" is not a number, a slash and a time, such as 100/min
}
