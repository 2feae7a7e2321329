package rest_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// isbn says in its own words what is wrong with a text.
type isbn string

func (i *isbn) UnmarshalText(text []byte) error {
	switch string(text) {
	case "short":
		return errors.New("must have 13 digits")
	case "secret-value":
		return fmt.Errorf("%s is no ISBN", text)
	case "inside":
		_, err := strconv.Atoi("x")
		return fmt.Errorf("isbn: %w", err)
	}
	*i = isbn(text)
	return nil
}

// The words of a type's own error reach the caller, unless they tell of its insides or repeat
// what was sent.
func TestOwnWords(t *testing.T) {
	t.Parallel()

	type in struct {
		ISBN isbn `query:"isbn"`
		Body struct {
			ISBN isbn `json:"isbn,omitempty"`
		}
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/books", func(context.Context, in) (rest.NoContent, error) { return rest.NoContent{}, nil })
	})
	for text, shown := range map[string]bool{"short": true, "secret-value": false, "inside": false} {
		for path, body := range map[string]string{"/books?isbn=" + text: `{}`, "/books": `{"isbn":"` + text + `"}`} {
			status, answer := record(api, jsonRequest(http.MethodPost, path, body))
			if status != http.StatusUnprocessableEntity || strings.Contains(answer, "must have 13 digits") != shown ||
				strings.Contains(answer, "secret") || strings.Contains(answer, "strconv") {
				t.Errorf("%s %s: %d %s", path, body, status, answer)
			}
		}
	}
}
