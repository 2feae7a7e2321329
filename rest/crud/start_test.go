package crud_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

type shelf struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

type crate struct {
	ID   int64  `json:"id"`
	Name string `json:"name"`
}

// What New returns is a controller, with the name of its model.
func TestRegisterWhatNewReturns(t *testing.T) {
	t.Parallel()

	api := rest.New()
	crates := crud.New(crud.Memory[crate, int64](crud.MemoryConfig{}), crud.Config[crate]{Path: "/crates"})
	api.Register(crud.New(crud.Memory[shelf, int64](crud.MemoryConfig{}), crud.Config[shelf]{Path: "/shelves"}))
	api.Register(&crates)
	api.Register(Embedding{crud.New(crud.Memory[shelf, int64](crud.MemoryConfig{}), crud.Config[shelf]{Path: "/others"})})

	document, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"Shelf_list"`, `"Crate_list"`, `"Embedding_list"`} {
		if !strings.Contains(string(document), want) {
			t.Errorf("the document has no operation %s", want)
		}
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/shelves", strings.NewReader(`{"name":"a"}`)))
	if w.Code != http.StatusCreated {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

type Embedding struct{ crud.Controller[shelf, int64] }

type optional struct {
	ID   int64            `json:"id"`
	Name rest.Opt[string] `json:"name"`
}

type optionalPointer struct {
	ID   int64             `json:"id"`
	Name *rest.Opt[string] `json:"name"`
}

type paired struct {
	ID   int64          `json:"id"`
	Name sql.NullString `json:"name"`
}

type generic struct {
	ID   int64            `json:"id"`
	Size sql.Null[uint32] `json:"size"`
}

type unseen struct {
	ID   int64          `json:"id"`
	Name sql.NullString `json:"-"`
}

type called struct {
	ID   int64  `json:"id"`
	Done func() `bun:"-"   json:"done"`
}

type sameName struct {
	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Title string `json:"name"` //nolint:govet // what is refused
}

// newly returns what New says about a model.
func newly[T any](config crud.Config[T]) (said string) {
	defer func() {
		if cause := recover(); cause != nil {
			said = fmt.Sprint(cause)
		}
	}()
	crud.New(crud.Memory[T, int64](crud.MemoryConfig{}), config)
	return ""
}

func TestModelsThatAreNoDocuments(t *testing.T) {
	t.Parallel()

	const object = "as an object with the field Valid: write a pointer"
	for want, got := range map[string]string{
		"field Name: it is a rest.Opt, which is for inputs":                 newly(crud.Config[optional]{}),
		"optionalPointer: field Name: it is a rest.Opt":                     newly(crud.Config[optionalPointer]{}),
		"paired: field Name: JSON has a sql.NullString " + object:           newly(crud.Config[paired]{}),
		"generic: field Size: JSON has a sql.Null[uint32] " + object:        newly(crud.Config[generic]{}),
		"called: field Done: JSON has no func()":                            newly(crud.Config[called]{}),
		`sameName: the fields Name and Title have one name in JSON, "name"`: newly(crud.Config[sameName]{}),
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %s", got, want)
		}
	}

	type in struct {
		Name *string `json:"name"`
	}
	body := crud.Input(func(_ context.Context, in in, row *paired) error {
		row.Name = sql.NullString{}
		if in.Name != nil {
			row.Name = sql.NullString{String: *in.Name, Valid: true}
		}
		return nil
	})
	own := crud.Config[paired]{
		Create: body, Patch: body, Out: crud.Output(func(row paired) string { return row.Name.String }),
	}
	for _, said := range []string{
		newly(own), newly(crud.Config[unseen]{}), newly(crud.Config[paired]{AllowedRoutes: []crud.Route{crud.Delete}}),
	} {
		if said != "" {
			t.Error(said)
		}
	}
}
