package rest_test

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
)

// Types whose comments are in the source below, as in that of a program.
type (
	pan struct {
		_     struct{}
		Name  string  `json:"name"`
		Size  int     `json:"size"`
		Lid   *string `json:"lid,omitempty"`
		Tag   string  `doc:"Its own text."                                   json:"tag"`
		Plain string  `json:"plain"`
		Copy  string  `docOf:"github.com/spoolhq/spool/rest_test.stove.Heat" json:"copy"`
		stove
	}
	stove struct {
		Heat int `json:"heat"`
	}
	panInput struct {
		Shelf  string    `path:"shelf"`
		Limit  int       `query:"limit"`
		Filter panFilter `query:"filter,deepObject"`
	}
	panFilter struct {
		Name string `query:"name"`
	}
	panAnswer struct {
		Total int `header:"X-Total"`
		Body  []pan
	}
	panForm struct {
		Title string `form:"title"`
	}
	panModel struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
	}
	crudPans struct {
		crud.Controller[panModel, int64]
	}
)

const panSource = `package rest_test

type pan struct {
	// What one cooks with.
	_ struct{}
	// Name is what the
	// pan is called: see [pan.Tag].
	//
	// For authors of Go.
	Name string ` + "`json:\"name\"`" + `
	Size int    ` + "`json:\"size\"`" + ` // in centimetres
	// Lid covers it.
	Lid *string
	// Tag has a tag.
	Tag string
	Plain string
	stove
}

type stove struct {
	// Heat and cold.
	Heat int ` + "`json:\"heat\"`" + `
}

type panInput struct {
	// Shelf are the boards.
	Shelf string ` + "`path:\"shelf\"`" + `
	// Limit bounds the answer.
	Limit int
	// Filter chooses pans.
	Filter panFilter
}

type panFilter struct {
	// Name is a part of the name.
	Name string ` + "`query:\"name\"`" + `
}

type panAnswer struct {
	// Total is how many there are.
	Total int ` + "`header:\"X-Total\"`" + `
}

type panForm struct {
	// Title is the title.
	Title string ` + "`form:\"title\"`" + `
}

type panModel struct {
	// Name is the model's name.
	Name string ` + "`json:\"name\"`" + `
}
`

func pans(context.Context, panInput) (panAnswer, error) { return panAnswer{}, nil }

func panPost(context.Context, panForm) (pan, error) { return pan{}, nil }

// fieldTexts returns the texts of the fields in the document of an API with the options.
func fieldTexts(t *testing.T, options ...rest.APIOption) map[string]any {
	t.Helper()

	api := rest.New(options...)
	api.Register(routes(func(r *rest.Routes) {
		rest.Get(r, "/pans/{shelf}", pans)
		rest.Post(r, "/pans", panPost)
	}))
	api.Register(crudPans{crud.New(crud.Memory[panModel, int64](crud.MemoryConfig{}), crud.Config[panModel]{})},
		rest.Prefix("/models"))
	d := document(t, api)
	get := func(path ...string) any { return at(d, append([]string{"paths", "/pans/{shelf}", "get"}, path...)...) }
	found := map[string]any{}
	params, _ := get("parameters").([]any)
	for _, p := range params {
		p, _ := p.(map[string]any)
		name, _ := p["name"].(string)
		found[name] = p["description"]
		if name == "filter" {
			found["filter.name"] = at(p, "schema", "properties", "name", "description")
		}
	}
	found["total"] = get("responses", "200", "headers", "X-Total", "description")
	found["pan"] = at(d, "components", "schemas", "Pan", "description")
	for _, name := range []string{"name", "size", "lid", "tag", "plain", "heat", "copy"} {
		found["pan."+name] = at(d, "components", "schemas", "Pan", "properties", name, "description")
	}
	found["form"] = at(d, "paths", "/pans", "post", "requestBody", "content", "multipart/form-data", "schema",
		"properties", "title", "description")
	found["model"] = at(d, "components", "schemas", "PanModel", "properties", "name", "description")
	return found
}

func TestCommentsOfFields(t *testing.T) {
	t.Parallel()

	wantDiff(t, "texts", any(map[string]any{
		"shelf": "The boards.", "limit": "Bounds the answer.", "filter": "Chooses pans.",
		"filter.name": "A part of the name.", "total": "How many there are.", "form": "The title.",
		"model": "The model's name.", "pan": "What one cooks with.", "pan.name": "What the pan is called: see pan.Tag.",
		"pan.size": "in centimetres", "pan.lid": "Covers it.", "pan.tag": "Its own text.", "pan.plain": nil,
		"pan.heat": "Heat and cold.", "pan.copy": "Heat and cold.",
	}), any(fieldTexts(t, rest.Comments(fstest.MapFS{"pan.go": {Data: []byte(panSource)}}))))
}

func TestCommentTable(t *testing.T) {
	t.Parallel()

	const pkg = "github.com/spoolhq/spool/rest_test."
	table := map[string]string{pkg + "pan.Name": "One.", pkg + "stove.Heat": "Two.", pkg + "pan.Tag": "Not this one."}
	got := fieldTexts(t, rest.CommentTable(map[string]string{pkg + "pan.Name": "None."}), rest.CommentTable(table))
	for name, want := range map[string]any{
		"pan.name": "One.", "pan.heat": "Two.", "pan.tag": "Its own text.", "pan.size": nil,
	} {
		wantDiff(t, name, want, got[name])
	}
	api := rest.New(rest.CommentTable(map[string]string{pkg + "oven": "Bakes. Slowly."}))
	api.Register(routes(func(r *rest.Routes) { rest.Get(r, "/oven", oven) }))
	d := document(t, api)
	wantDiff(t, "summary", any("Bakes"), at(d, "paths", "/oven", "get", "summary"))
	wantDiff(t, "description", any("Bakes. Slowly."), at(d, "paths", "/oven", "get", "description"))
}
