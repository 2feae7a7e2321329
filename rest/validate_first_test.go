package rest_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// ordered is a body that names the mistakes of its name before all others.
type ordered struct {
	Name string `json:"name"`
	Kind string `json:"kind" maxLength:"3" required:"true"`
	Size int    `json:"size" minimum:"1"   required:"true"`
}

// Validate implements [rest.Validator].
func (o *ordered) Validate(context.Context) error {
	if o.Name == "" || o.Name == "bad" {
		return &rest.Error{Status: http.StatusConflict, Detail: "the name comes first", Err: errors.New("name")}
	}
	return nil
}

func TestValidateFirst(t *testing.T) {
	t.Parallel()

	for _, first := range []bool{true, false} {
		var options []rest.APIOption
		late := http.StatusUnprocessableEntity
		if first {
			options, late = append(options, rest.ValidateFirst()), http.StatusConflict
		}
		api := serve(func(r *rest.Routes) {
			rest.Post(r, "/x", func(context.Context, ordered) (string, error) { return "", nil })
		}, options...)
		for body, want := range map[string]int{
			`{"name":"bad","kind":"a","size":1}`: http.StatusConflict,
			`{"name":"bad"}`:                     late,
			`{"name":"bad","kind":"long"}`:       late,
			`{"kind":"a","size":0}`:              late,
			`{"name":"ok"}`:                      http.StatusUnprocessableEntity,
			`{"name":"bad","size":"x"}`:          http.StatusUnprocessableEntity,
			`{"name":"bad","name":"bad"}`:        http.StatusUnprocessableEntity,
			`[]`:                                 http.StatusUnprocessableEntity,
			`{"name":"ok","kind":"a","size":1}`:  http.StatusOK,
		} {
			status, text := record(api, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/x",
				strings.NewReader(body)))
			if status != want {
				t.Errorf("first %t: %s: %d %s, want %d", first, body, status, text, want)
			}
		}
	}
}
