package main

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
)

// TestCheck gives the check answers that are wrong, each in its own way.
func TestCheck(t *testing.T) {
	t.Parallel()

	c := newCatalog()
	good, _ := c.item(1)
	asked := call{name: "item", method: http.MethodGet, target: "/items/1", status: http.StatusOK, want: good}
	refused := call{
		name: "draft", method: http.MethodPost, target: "/items", body: badDraft,
		status: http.StatusUnprocessableEntity, wrong: []string{"name", "tags"},
	}
	other := good
	other.Price++

	for name, tc := range map[string]struct {
		call   call
		status int
		kind   string
		body   any
		want   string // empty when the answer is right
	}{
		"Right":         {asked, 200, contentJSON, good, ""},
		"Status":        {asked, 201, contentJSON, good, "status 201 instead of 200"},
		"Kind":          {asked, 200, "text/plain", good, "content type"},
		"Value":         {asked, 200, contentJSON, other, "another body"},
		"MoreFields":    {asked, 200, contentJSON, map[string]any{"id": 1}, "another body"},
		"SchemaLink":    {asked, 200, contentJSON, linked(t, good), ""},
		"Named":         {refused, 422, contentProblem, []string{"body.name", "/tags/1"}, ""},
		"NotNamed":      {refused, 422, contentProblem, []string{"name"}, "does not name tags"},
		"OnlyInText":    {refused, 422, contentProblem, []string{"name", "the tags are wrong"}, "does not name tags"},
		"OnlyAsKey":     {refused, 422, contentProblem, map[string]any{"tags": 1, "field": "name"}, "does not name tags"},
		"AnotherPrefix": {refused, 422, contentProblem, []string{"body.name", "hashtags"}, "does not name tags"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			text, err := json.Marshal(tc.body)
			if err != nil {
				t.Fatal(err)
			}
			e := &entry{"fake", http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", tc.kind)
				w.WriteHeader(tc.status)
				_, _ = w.Write(text)
			})}
			switch err := e.check(tc.call); {
			case tc.want == "" && err != nil:
				t.Error(err)
			case tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)):
				t.Errorf("the check says %v, not %q", err, tc.want)
			}
		})
	}
}

// linked returns an item as huma sends it, with a link to its schema.
func linked(t *testing.T, it item) map[string]any {
	t.Helper()

	text, err := json.Marshal(it)
	if err != nil {
		t.Fatal(err)
	}
	var object map[string]any
	if err := json.Unmarshal(text, &object); err != nil {
		t.Fatal(err)
	}
	object["$schema"] = "http://example.com/schemas/Item.json"
	return object
}

// TestExchange shows that a request is as new each time, whatever was done to it.
func TestExchange(t *testing.T) {
	t.Parallel()

	seen := 0
	x := newExchange(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") != "" || r.Form != nil || w.Header().Get("X") != "" {
			t.Error("the request before left something")
		}
		if err := r.ParseForm(); err != nil {
			t.Error(err)
		}
		if got := r.PostForm.Get("a"); got != "b" {
			t.Errorf("the body says %q", got)
		}
		r.SetPathValue("id", "1")
		w.Header().Set("X", "1")
		seen++
	}), call{method: http.MethodPost, target: "/", body: "a=b"})
	x.template.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	x.do(3)
	if seen != 3 {
		t.Errorf("sent %d times", seen)
	}
}
