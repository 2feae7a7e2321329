package bind_test

import (
	"net/http"
	"net/http/httptest"
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/fault"
)

// compile compiles T, which has to be right.
func compile[T any](tb testing.TB, o bind.Options) *bind.Plan {
	tb.Helper()

	plan, err := bind.Compile(reflect.TypeFor[T](), o)
	if err != nil {
		tb.Fatal(err)
	}

	return plan
}

// get is a GET request with the query string as it is, also when it is malformed.
func get(query string) *http.Request {
	r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
	r.URL.RawQuery = query

	return r
}

// read compiles T and binds one from r.
func read[T any](t *testing.T, r *http.Request) (T, []fault.Fault) {
	t.Helper()

	dst := new(T)
	faults := compile[T](t, bind.Options{}).Bind(bind.NewInput(r, nil), dst)

	return *dst, faults
}

// summary is what tests compare of faults: place and kind.
func summary(faults []fault.Fault) []string {
	var lines []string
	for _, f := range faults {
		lines = append(lines, f.Location()+" "+f.Kind)
	}

	return lines
}
