package crud_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

// BenchmarkRoutes is what a request costs beside its database.
func BenchmarkRoutes(b *testing.B) {
	store := crud.Memory[Page, int64](crud.MemoryConfig{})
	if err := store.Insert(context.Background(), &Page{Text: "a"}); err != nil {
		b.Fatal(err)
	}
	api := rest.New()
	api.Register(&Pages{crud.New(store, crud.Config[Page]{Path: "/pages"})})
	for _, route := range []struct{ name, method, path, body string }{
		{"Find", http.MethodGet, "/pages/1", ""},
		{"List", http.MethodGet, "/pages", ""},
		{"Update", http.MethodPut, "/pages/1", `{"text":"b"}`},
		{"Patch", http.MethodPatch, "/pages/1", `{"text":"c"}`},
	} {
		b.Run(route.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := httptest.NewRecorder()
				api.ServeHTTP(w, httptest.NewRequest(route.method, route.path, strings.NewReader(route.body)))
				if w.Code != http.StatusOK {
					b.Fatal(w.Code, w.Body)
				}
			}
		})
	}
}
