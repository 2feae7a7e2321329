package header_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server/verify/internal/header"
)

func TestOne(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		values    []string
		want, err string
	}{
		"Once":    {values: []string{"a b"}, want: "a b"},
		"Longest": {values: []string{strings.Repeat("x", 8192)}, want: strings.Repeat("x", 8192)},
		"Missing": {err: "the header X-Proof is missing"},
		"Empty":   {values: []string{""}, err: "the header X-Proof is missing"},
		"Twice":   {values: []string{"a", "a"}, err: "the header X-Proof is there twice"},
		"TooLong": {values: []string{strings.Repeat("x", 8193)}, err: "the header X-Proof is too long"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := header.One(http.Header{"X-Proof": c.values}, "X-Proof")
			if got != c.want || message(err) != c.err {
				t.Errorf("One = %q, %v; want %q, %q", got, err, c.want, c.err)
			}
		})
	}
}

func TestBearer(t *testing.T) {
	t.Parallel()

	const none = "the header Authorization has no bearer token"
	for value, c := range map[string]struct{ want, err string }{
		"Bearer abc":  {want: "abc"},
		"bearer  abc": {want: "abc"},
		"":            {err: "the header Authorization is missing"},
		"abc":         {err: none},
		"Bearer":      {err: none},
		"Bearer ":     {err: none},
		"Basic abc":   {err: none},
	} {
		got, err := header.Bearer(http.Header{"Authorization": {value}})
		if got != c.want || message(err) != c.err {
			t.Errorf("Bearer of %q = %q, %v; want %q, %q", value, got, err, c.want, c.err)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
