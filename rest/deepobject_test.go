package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

type sieve struct {
	A    int      `query:"a"          doc:"The first." maximum:"9"`
	B    *string  `query:"b"`
	Tags []string `query:"tags,comma"`
	Sort string   `query:"sort"       default:"up"     enum:"up,down"`
}

func (s sieve) Validate(context.Context) error {
	if s.A == 3 {
		return rest.Invalid(rest.Fault{Path: []any{"a"}, Kind: "three", Message: "must not be three"})
	}
	return nil
}

type sieved struct {
	ID     int   `path:"id"`
	Filter sieve `query:"filter,deepObject" doc:"Which ones."`
	Page   int   `query:"page"`
}

func TestDeepObject(t *testing.T) {
	t.Parallel()

	var endpoint *rest.Endpoint[sieved, string]
	api := serve(func(r *rest.Routes) {
		endpoint = rest.Get(r, "/{int:id}", func(_ context.Context, in sieved) (string, error) {
			b := "-"
			if in.Filter.B != nil {
				b = *in.Filter.B
			}
			return fmt.Sprintf("%d %d %s %v %s %d", in.ID, in.Filter.A, b, in.Filter.Tags, in.Filter.Sort, in.Page), nil
		}, rest.Unknown(rest.RefuseAll))
		rest.Post(r, "/{int:id}", func(_ context.Context, in struct {
			sieved

			Name string `json:"name"`
		},
		) (string, error) {
			return fmt.Sprintf("%d %s", in.Filter.A, in.Name), nil
		})
	})
	for query, want := range map[string]string{
		"":                                    `"7 0 - [] up 0"`,
		"?filter[a]=1&page=2":                 `"7 1 - [] up 2"`,
		"?filter%5Ba%5D=1&filter[b]=x%5D":     `"7 1 x] [] up 0"`,
		"?filter[tags]=a,b&filter[sort]=down": `"7 0 - [a b] down 0"`,
	} {
		if status, text := get(t, api, "/7"+query); status != http.StatusOK || text != want {
			t.Errorf("%s: got %d %s", query, status, text)
		}
	}
	for query, want := range map[string]string{
		"?filter[a]=10": "query.filter[a]", "?filter[a]=x": "query.filter[a]", "?filter[sort]=side": "query.filter[sort]",
		"?filter[c]=1": "query.filter[c]", "?filter=1": "query.filter", "?a=1": "query.a",
		"?filter[a]=1&filter[a]=2": "query.filter[a]", "?filter[a]=3": "must not be three",
	} {
		if status, text := get(t, api, "/7"+query); status != http.StatusUnprocessableEntity ||
			!strings.Contains(text, want) {
			t.Errorf("%s: got %d %s", query, status, text)
		}
	}
	b := "x&y"
	a := resttest.Call(t, api, endpoint, sieved{ID: 7, Filter: sieve{A: 2, B: &b, Tags: []string{"c", "d"}, Sort: "down"}})
	wantDiff(t, "typed", "7 2 x&y [c d] down 0", a.Body)
	if status, text := record(
		api, jsonRequest(http.MethodPost, "/7?filter[a]=4", `{"name":"n"}`),
	); status != http.StatusOK || strings.TrimSpace(text) != `"4 n"` {
		t.Errorf("with a body: got %d %s", status, text)
	}

	params, _ := at(document(t, api), "paths", "/{id}", "get", "parameters").([]any)
	if len(params) != 3 {
		t.Fatalf("documented %v", params)
	}
	wantDiff(t, "documented", map[string]any{
		"name": "filter", "in": "query", "description": "Which ones.", "style": "deepObject", "explode": true,
		"schema": map[string]any{"type": "object", "properties": map[string]any{
			"a":    map[string]any{"type": "integer", "format": "int64", "maximum": 9.0, "description": "The first."},
			"b":    map[string]any{"type": "string"},
			"tags": map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
			"sort": map[string]any{"type": "string", "enum": []any{"up", "down"}, "default": "up"},
		}},
	}, params[1])
}

func TestDeepObjectsThatCannotBe(t *testing.T) {
	t.Parallel()

	type inner struct {
		A int `query:"a"`
	}
	for want, register := range map[string]func(r *rest.Routes){
		"a deepObject is a struct, not *": func(r *rest.Routes) {
			rest.Get(r, "/", func(context.Context, struct {
				F *inner `query:"f,deepObject"`
			},
			) (int, error) {
				return 0, nil
			})
		},
		"has no other one in it": func(r *rest.Routes) {
			rest.Get(r, "/", func(context.Context, struct {
				F struct {
					G inner `query:"g,deepObject"`
				} `query:"f,deepObject"`
			},
			) (int, error) {
				return 0, nil
			})
		},
		"needs the tag query": func(r *rest.Routes) {
			rest.Get(r, "/", func(context.Context, struct {
				F struct {
					G int `json:"g"`
				} `query:"f,deepObject"`
			},
			) (int, error) {
				return 0, nil
			})
		},
		"means nothing: write maximum": func(r *rest.Routes) {
			rest.Get(r, "/", func(context.Context, struct {
				F struct {
					G int `query:"g" max:"1"`
				} `query:"f,deepObject"`
			},
			) (int, error) {
				return 0, nil
			})
		},
		`also read by`: func(r *rest.Routes) {
			rest.Get(r, "/", func(context.Context, struct {
				F inner `query:"f,deepObject"`
				G int   `query:"f[a]"`
			},
			) (int, error) {
				return 0, nil
			})
		},
	} {
		if text := mustPanic(t, func() { serve(register) }); !strings.Contains(text, want) {
			t.Errorf("got %q, want %q", text, want)
		}
	}
}
