package crudtest

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

type items struct{ crud.Controller[Item, int64] }

// testPatch changes each kind of column that may be null to a value and to null, from either.
func (s *suite) testPatch() {
	t := s.t
	api := rest.New(rest.Logger(slog.New(slog.DiscardHandler)))
	api.Register(&items{crud.New(s.Store, crud.Config[Item]{})}, rest.Prefix("/items"))
	a, b := s.insert(t, item("a")), s.insert(t, item("b"))
	for field, value := range map[string]string{
		"note": `"n"`, "parentId": strconv.FormatInt(b.ID, 10), "rating": "1.5", "hidden": "false",
		"seen": `"2026-05-04T03:02:01Z"`,
	} {
		for i, next := range []string{"null", value, value, "null"} {
			path := "/items/" + strconv.FormatInt(a.ID, 10)
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPatch, path, strings.NewReader(`{"`+field+`":`+next+`}`))
			r.Header.Set("Content-Type", "application/json")
			w := httptest.NewRecorder()
			api.ServeHTTP(w, r)
			var row map[string]json.RawMessage
			if err := json.Unmarshal(w.Body.Bytes(), &row); err != nil || w.Code != http.StatusOK {
				t.Fatalf("change %d of %s to %s: %d %s", i+1, field, next, w.Code, w.Body)
			}
			if got := string(row[field]); (got == "null") != (next == "null") {
				t.Errorf("change %d of %s to %s: it is %s", i+1, field, next, got)
			}
		}
	}
}
