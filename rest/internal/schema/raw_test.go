package schema_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/spoolhq/spool/rest/internal/opt"
	"github.com/spoolhq/spool/rest/internal/schema"
)

// TestRawRoutes has huma itself read bodies by schemas of this registry.
func TestRawRoutes(t *testing.T) {
	t.Parallel()

	type writer struct {
		Name string `json:"name" minLength:"2"`
	}
	type input struct {
		Body struct {
			Title  string          `json:"title"`
			Tags   []string        `json:"tags"`
			Stock  int             `default:"3"   json:"stock"`
			Editor opt.Opt[writer] `json:"editor"`
		}
	}

	mux := http.NewServeMux()
	config := huma.DefaultConfig("raw", "1")
	config.CreateHooks = nil
	config.Components.Schemas = schema.New()
	api := humago.New(mux, config)
	huma.Post(api, "/raw", func(_ context.Context, in *input) (*struct{}, error) {
		if in.Body.Stock != 3 {
			t.Errorf("the default is %d", in.Body.Stock)
		}

		return nil, nil //nolint:nilnil // huma's way to answer with nothing
	})

	for data, want := range map[string]int{
		`{"title":"a","tags":[]}`:                         http.StatusNoContent,
		`{"title":"a","tags":[],"editor":null}`:           http.StatusNoContent,
		`{"title":"a","tags":[],"editor":{"name":"Ada"}}`: http.StatusNoContent,
		`{"title":"a","tags":[],"editor":{"name":"A"}}`:   http.StatusUnprocessableEntity,
		`{"title":"a","tags":null}`:                       http.StatusUnprocessableEntity,
		`{"title":"a"}`:                                   http.StatusUnprocessableEntity,
	} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodPost, "/raw", strings.NewReader(data))
		r.Header.Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%s: %d %s, want %d", data, w.Code, w.Body, want)
		}
	}
}
