package main_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/auth"
	"github.com/spoolhq/spool/rest/resttest"
)

// row is the test of a row.
type row struct{ *testing.T }

// seedRows are the tests of the rows of seed-map.md: for each section, by the row's first
// cell.
func seedRows() map[string]map[string]func(t row) {
	return map[string]map[string]func(t row){
		"The controller base class":     baseRows(),
		"`api_controller`":              controllerRows(),
		"Routes":                        routeRows(),
		"`paginate`":                    paginateRows(),
		"The setting":                   settingRows(),
		"Filter schema":                 filterRows(),
		"Model controllers":             modelRows(),
		"Shapes of endpoints":           shapeRows(),
		"What the contract leaves open": openRows(),
	}
}

// Each row of the page is run, and each test has its row.
func TestSeedMap(t *testing.T) {
	t.Parallel()

	tests := seedRows()
	listed := map[string][]string{}
	section, rows := "", []string{}
	for line := range strings.Lines(read(t, root+"/docs/rest/seed-map.md")) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "## "):
			section = strings.TrimPrefix(line, "## ")
		case strings.HasPrefix(line, "|--"):
			rows = rows[:len(rows)-1] // what stands before is the head of the table
			listed[section] = listed[section][:len(listed[section])-1]
		case strings.HasPrefix(line, "| "):
			cell, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
			rows = append(rows, cell)
			listed[section] = append(listed[section], cell)
		}
	}
	if len(rows) < 80 {
		t.Fatalf("the page has %d rows, and had more", len(rows))
	}
	for section, cells := range listed {
		for _, cell := range cells {
			run := tests[section][cell]
			if run == nil {
				t.Errorf("no test runs the row of %q: %s", section, cell)
				continue
			}
			t.Run(section+": "+cell, func(t *testing.T) {
				t.Parallel()
				run(row{t})
			})
		}
	}
	for section, all := range tests {
		for cell := range all {
			if !slices.Contains(listed[section], cell) {
				t.Errorf("the page has no row of %q any more: %s", section, cell)
			}
		}
	}
}

// mount makes an API of one controller.
func mount(f func(r *rest.Routes), options ...rest.APIOption) *rest.API {
	api := rest.New(append([]rest.APIOption{silent()}, options...)...)
	api.Register(routes(f))
	return api
}

// answers checks what each request is answered: "GET /x" or "POST /x {}" with the status and,
// behind a space, the body, of which "..." is left out at its end. Without it, any body will do.
func answers(t row, h http.Handler, options []resttest.Option, wants map[string]string) {
	t.Helper()

	for q, want := range wants {
		method, rest, _ := strings.Cut(q, " ")
		target, body, sends := strings.Cut(rest, " ")
		all := options
		if sends {
			all = append(slices.Clone(options), resttest.Content("application/json", body))
		}
		a := resttest.Do[any](t, h, method, target, all...)
		got := strings.TrimSpace(fmt.Sprint(a.Status, " ", strings.TrimSpace(a.Text)))
		begin, cut := strings.CutSuffix(want, "...")
		if _, _, hasBody := strings.Cut(want, " "); !hasBody {
			got, _, _ = strings.Cut(got, " ")
		}
		if cut && strings.HasPrefix(got, begin) {
			continue
		}
		if got != want {
			t.Errorf("%s:\n got %s\nwant %s", q, got, want)
		}
	}
}

func same(t row, want, got any) {
	t.Helper()

	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// panics returns the words of a panic.
func panics(t row, f func()) (text string) {
	t.Helper()

	defer func() {
		if text = fmt.Sprint(recover()); text == "<nil>" {
			t.Error("it does not panic")
		}
	}()
	f()
	return ""
}

// documented returns a part of the document as JSON.
func documented(t row, api *rest.API, path ...string) string {
	t.Helper()

	text := part(api, path...)
	if !json.Valid([]byte(text)) {
		t.Fatal(text)
	}
	return text
}

// keyed knows ada, who is an administrator, and bob, by the parameter key.
func keyed() rest.Authenticator {
	return auth.APIKeyQuery("key", auth.Keys(map[string]*rest.User{
		"ada-key": {ID: "ada", Admin: true}, "bob-key": {ID: "bob"},
	}))
}
