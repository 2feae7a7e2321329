package rest_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/resttest"
)

// An answer about what is wrong must not be much larger than what was sent.
func TestAttackFaultsAreBounded(t *testing.T) {
	t.Parallel()

	type in struct {
		Lists map[string][]int `json:"lists"`
		Any   any              `json:"any"`
	}
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/body", func(context.Context, in) (string, error) { return "", nil })
		rest.Get(r, "/query", func(context.Context, struct {
			Q []int64 `query:"q"`
		},
		) (string, error) {
			return "", nil
		}, rest.Unknown(rest.RefuseAll))
	})
	key := strings.Repeat("kø", 100_000)
	for name, body := range map[string]string{
		"lists below a long key":   `{"any":1,"lists":{"` + key + `":["x"` + strings.Repeat(`,"x"`, 200) + `]}}`,
		"objects below a long key": `{"lists":{},"any":{"` + key + `":{"a":1` + strings.Repeat(`,"a":1`, 200) + `}}}`,
		"a long unknown key":       `{"lists":{},"any":1,"` + key + `":1}`,
		"many unknown keys":        `{"lists":{},"any":1` + strings.Repeat(`,"unknown":1`, 50_000) + `}`,
		"many wrong items":         `{"any":1,"lists":{"a":["x"` + strings.Repeat(`,"x"`, 100_000) + `]}}`,
	} {
		a := resttest.Do[any](t, api, http.MethodPost, "/body", resttest.Content("application/json", body))
		if a.Status != http.StatusUnprocessableEntity || len(a.Text) > 64<<10 {
			t.Errorf("%s: %d with %d bytes, of a body with %d", name, a.Status, len(a.Text), len(body))
		}
		if strings.ContainsRune(a.Text, '\uFFFD') {
			t.Errorf("%s: a character was cut", name)
		}
	}
	for name, query := range map[string]string{
		"unknown": strings.Repeat("a&", 9000), "wrong": "q=x" + strings.Repeat("&q=x", 9000),
		"malformed": strings.Repeat("%&", 9000), "all of it": strings.Repeat("a&%&q=x&", 3000),
	} {
		a := resttest.Do[any](t, api, http.MethodGet, "/query?"+query)
		if a.Status != http.StatusUnprocessableEntity || len(a.Text) > 64<<10 {
			t.Errorf("%s: %d with %d bytes, of a query with %d", name, a.Status, len(a.Text), len(query))
		}
	}
}
