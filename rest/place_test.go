package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// A type that is answered and cannot be documented is refused with the route that answers
// it, and a controller that is not there by words of rest.
func TestMistakesNameTheRoute(t *testing.T) {
	t.Parallel()

	type row struct {
		Pages int `json:"pages" minLength:"3"`
	}
	answers := func(context.Context, struct{}) (row, error) { return row{}, nil }
	lists := func(context.Context, struct{}) ([]row, error) { return nil, nil }
	channel := func(context.Context, struct{}) (chan int, error) { return make(chan int), nil }
	shelf := func(f func(r *rest.Routes)) rest.Controller { return placed(f) }

	for name, test := range map[string]struct {
		controller rest.Controller
		want       []string
	}{
		"result": {
			shelf(func(r *rest.Routes) { rest.Get(r, "/a", answers) }),
			[]string{"rest: ", "placed: GET /a: ", "row: field Pages: minLength"},
		},
		"list": {
			shelf(func(r *rest.Routes) { rest.List(r, "/b", lists) }),
			[]string{"rest: ", "placed: GET /b: ", "row: field Pages: minLength"},
		},
		"returns": {
			shelf(func(r *rest.Routes) { rest.Get(r, "/c", handle("x"), rest.Returns[row](409)) }),
			[]string{"placed: GET /c: ", "minLength"},
		},
		"channel": {
			shelf(func(r *rest.Routes) { rest.Get(r, "/d", channel) }), []string{"placed: GET /d: ", "JSON has no chan int"},
		},
		"no value": {nil, []string{"rest: the controller that is registered is nil"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			defer func() {
				said := fmt.Sprint(recover())
				for _, want := range test.want {
					if !strings.Contains(said, want) {
						t.Errorf("got %q, without %q", said, want)
					}
				}
			}()
			rest.New().Register(test.controller)
		})
	}
}

type placed func(r *rest.Routes)

func (p placed) Routes(r *rest.Routes) { p(r) }
