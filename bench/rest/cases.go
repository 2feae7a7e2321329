package main

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// call is a request, and the required answer of every implementation.
type call struct {
	name   string
	method string
	target string
	token  string
	body   string

	status int
	orElse int      // another acceptable status, or zero
	want   any      // the body of a success
	wrong  []string // the fields that an error must name
}

// testCase is something to measure.
type testCase struct {
	call

	title string
}

const (
	offerQuery = "?lang=de&expand=true&max_tags=2"
	goodDraft  = `{"name":"Walnut organiser","sku":"WAL-0042","category":"office","price":49.9,` +
		`"quantity":12,"tags":["wood","handmade","desk"],"note":"Ships within a week"}`
)

// badDraft has a problem in each of its fields.
var badDraft = `{"name":"","sku":"wal-42","category":"cellar","price":-1,` +
	`"quantity":5000,"tags":["wood","","desk"],"note":"` + strings.Repeat("long ", 50) + `"}`

// fields are the names of a draft's fields.
var fields = []string{"name", "sku", "category", "price", "quantity", "tags", "note"}

// cases returns the measured cases.
func cases(c *catalog) []testCase {
	it, _ := c.item(417)
	open, _ := c.offer("north", 417, "de", true, 2)
	guarded := open
	guarded.Buyer = users[staffToken].Name
	made := c.create(draft{
		Name: "Walnut organiser", SKU: "WAL-0042", Category: "office", Price: 49.9,
		Quantity: 12, Tags: []string{"wood", "handmade", "desk"}, Note: "Ships within a week",
	})
	return []testCase{
		{title: "GET by id", call: call{
			name: "get", method: http.MethodGet, target: "/items/417", status: http.StatusOK, want: it,
		}},
		{title: "GET with query", call: call{
			name: "query", method: http.MethodGet, target: "/shops/north/items/417" + offerQuery,
			status: http.StatusOK, want: open,
		}},
		{title: "guarded GET", call: call{
			name: "guarded", method: http.MethodGet, target: "/staff/north/items/417" + offerQuery, token: staffToken,
			status: http.StatusOK, want: guarded,
		}},
		{title: "POST", call: call{
			name: "post", method: http.MethodPost, target: "/items", body: goodDraft,
			status: http.StatusCreated, want: made,
		}},
		{title: "invalid POST", call: call{
			name: "invalid", method: http.MethodPost, target: "/items", body: badDraft,
			status: http.StatusUnprocessableEntity, wrong: fields,
		}},
		{title: "page of 50", call: call{
			name: "page", method: http.MethodGet, target: "/items?limit=50&offset=500",
			status: http.StatusOK, want: itemPage{Items: c.page(50, 500), Count: catalogSize},
		}},
		{title: "list of 100", call: call{
			name: "list", method: http.MethodGet, target: "/items?limit=100&offset=500",
			status: http.StatusOK, want: itemPage{Items: c.page(100, 500), Count: catalogSize},
		}},
	}
}

// probes returns requests that are not measured. They show that every implementation does the required
// checks.
func probes(c *catalog) []call {
	first, _ := c.item(1)
	plain, _ := c.offer("south", 3, "en", false, 8)
	calls := []call{
		{name: "another item", target: "/items/1", status: http.StatusOK, want: first},
		{name: "no such item", target: "/items/1001", status: http.StatusNotFound},
		// A path that does not match may also be answered as an unknown path.
		{
			name: "an id that is no number", target: "/items/first", status: http.StatusUnprocessableEntity,
			orElse: http.StatusNotFound,
		},
		{name: "defaults of an offer", target: "/shops/south/items/3", status: http.StatusOK, want: plain},
		{name: "no such language", target: "/shops/south/items/3?lang=xx", status: http.StatusUnprocessableEntity},
		{name: "no flag", target: "/shops/south/items/3?expand=perhaps", status: http.StatusUnprocessableEntity},
		{name: "too many tags", target: "/shops/south/items/3?max_tags=9", status: http.StatusUnprocessableEntity},
		{name: "no token", target: "/staff/north/items/3", status: http.StatusUnauthorized},
		{name: "unknown token", target: "/staff/north/items/3", token: "abc", status: http.StatusUnauthorized},
		{name: "another role", target: "/staff/north/items/3", token: publicToken, status: http.StatusForbidden},
		{
			name: "the default page", target: "/items", status: http.StatusOK,
			want: itemPage{Items: c.page(defaultLimit, 0), Count: catalogSize},
		},
		{
			name: "the last page", target: "/items?limit=20&offset=990", status: http.StatusOK,
			want: itemPage{Items: c.page(20, 990), Count: catalogSize},
		},
		{name: "no limit", target: "/items?limit=x", status: http.StatusUnprocessableEntity},
	}
	for i := range calls {
		calls[i].method = http.MethodGet
	}
	return append(calls, badBodies()...)
}

// badBodies returns drafts with one wrong field each.
func badBodies() []call {
	var good, bad map[string]any
	for text, to := range map[string]*map[string]any{goodDraft: &good, badDraft: &bad} {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			panic("the drafts are not JSON: " + err.Error())
		}
	}
	calls := make([]call, 0, len(fields)+1)
	for _, field := range fields {
		body := maps.Clone(good)
		body[field] = bad[field]
		text, err := json.Marshal(body)
		if err != nil {
			panic("encode a draft: " + err.Error())
		}
		calls = append(calls, call{
			name: "wrong " + field, method: http.MethodPost, target: "/items", body: string(text),
			status: http.StatusUnprocessableEntity, wrong: []string{field},
		})
	}
	return slices.Concat(calls, []call{{
		name: "no object", method: http.MethodPost, target: "/items", body: `[1]`, status: http.StatusUnprocessableEntity,
	}})
}
