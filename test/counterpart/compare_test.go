// Package counterpart_test holds rest with rest.DetailErrors against the library that it
// replaces: the same requests, and the answers that Django Ninja Extra gave, recorded.
package counterpart_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var list = flag.Bool("list", false, "log each difference that has no reason, as JSON")

// message is a request of requests.json.
type message struct {
	Method  string            `json:"method"`
	Target  string            `json:"target"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Base64  []byte            `json:"base64"`
	// Here is the target in rest where it is another one.
	Here string `json:"here"`
}

// exchange is a request, and what is known about its answer.
type exchange struct {
	message

	Name   string    `json:"name"`
	Before []message `json:"before"` // requests that come first
	// Compare is "status" where the bodies are documents or pages for people.
	Compare string `json:"compare"`

	// Differs names the row of README.md that says why the answer is another one.
	Differs string `json:"differs"`
	// Worse says what is worse here. None may be.
	Worse string `json:"worse"`
}

// answer is what was answered.
type answer struct {
	Name    string            `json:"name"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
}

func read[T any](t *testing.T, file string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text(t, file)), &v); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	return v
}

// TestCounterpart sends each request to the app in Go.
func TestCounterpart(t *testing.T) {
	t.Parallel()

	reasons := reasons(t)
	exchanges, recorded := read[[]exchange](t, "requests.json"), read[[]answer](t, "answers.json")
	if len(exchanges) != len(recorded) {
		t.Fatalf("there are %d requests and %d answers: record again", len(exchanges), len(recorded))
	}
	shared := http.Handler(newApp())
	counts := map[string]int{}
	for i, x := range exchanges {
		if x.Name != recorded[i].Name {
			t.Fatalf("request %q has the answer of %q: record again", x.Name, recorded[i].Name)
		}
		api := shared
		if strings.HasPrefix(x.Target, "/books") || strings.HasPrefix(x.Target, "/throttles") {
			api = newApp()
		}
		for _, before := range x.Before {
			send(api, before)
		}
		want, got := recorded[i], send(api, x.message)
		difference := compare(want, got, x.Compare)
		counts[verdict(t, x, difference, want, got, reasons)]++
	}
	t.Logf("%d requests: %v", len(exchanges), counts)
	if counts["worse"] > 0 {
		t.Errorf("%d answers are worse than the counterpart's", counts["worse"])
	}
}

// verdict judges one answer.
func verdict(t *testing.T, x exchange, difference string, want, got answer, reasons map[string]bool) string {
	t.Helper()
	switch {
	case x.Worse != "" && difference == "":
		t.Errorf("%s: the answer is the same; requests.json says that it is worse: %s", x.Name, x.Worse)
		return "same"
	case x.Worse != "":
		return "worse"
	case difference == "" && x.Differs == "":
		return "same"
	case difference == "":
		t.Errorf("%s: the answer is the same; requests.json says that it differs: %s", x.Name, x.Differs)
	case x.Differs == "":
		t.Errorf("%s: %s\n%s %s\ncounterpart: %d %s\nrest:        %d %s", x.Name, difference, x.Method, x.Target, want.Status,
			want.Body, got.Status, got.Body)
		if *list {
			line, err := json.Marshal(map[string]any{"name": x.Name, "difference": difference, "want": want, "got": got})
			t.Logf("DIFF %s %v", line, err)
		}
	case !reasons[x.Differs]:
		t.Errorf("%s: differs, and %q is no row of README.md", x.Name, x.Differs)
	}
	return "differs"
}

func send(api http.Handler, m message) answer {
	body := []byte(m.Body)
	if m.Base64 != nil {
		body = m.Base64
	}
	r := httptest.NewRequest(cmp.Or(m.Method, http.MethodGet), "http://example.com/", bytes.NewReader(body))
	m.Target = cmp.Or(m.Here, m.Target)
	address, err := url.ParseRequestURI(m.Target) // as a server reads the request line
	if err != nil {
		return answer{Status: http.StatusBadRequest, Body: err.Error()}
	}
	address.Scheme, address.Host = "", ""
	r.URL, r.RequestURI = address, m.Target
	for name, value := range m.Headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	api.ServeHTTP(w, r)
	a := answer{Status: w.Code, Headers: map[string]string{}, Body: w.Body.String()}
	for name := range w.Header() {
		a.Headers[name] = w.Header().Get(name)
	}
	media, _, _ := strings.Cut(a.Headers["Content-Type"], ";")
	a.Headers["Content-Type"] = media
	return a
}

// compare returns what differs, or nothing. Headers that only rest sends are additions.
func compare(want, got answer, how string) string {
	if want.Status != got.Status {
		return fmt.Sprintf("status %d, not %d", got.Status, want.Status)
	}
	if how == "status" {
		return ""
	}
	for _, name := range slices.Sorted(keys(want.Headers)) {
		if want.Headers[name] != got.Headers[name] && (name != "Content-Type" || want.Body != "") {
			return fmt.Sprintf("%s %q, not %q", name, got.Headers[name], want.Headers[name])
		}
	}
	var a, b any
	if json.Unmarshal([]byte(want.Body), &a) != nil || json.Unmarshal([]byte(got.Body), &b) != nil {
		if strings.TrimSpace(want.Body) != strings.TrimSpace(got.Body) {
			return "the text of the body"
		}
		return ""
	}
	sortFaults(a)
	sortFaults(b)
	if !reflect.DeepEqual(a, b) {
		return "the body"
	}
	return ""
}

// sortFaults puts the faults of a 422 in order: which of them comes first says nothing.
func sortFaults(body any) {
	object, _ := body.(map[string]any)
	if faults, ok := object["detail"].([]any); ok {
		slices.SortFunc(faults, func(a, b any) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	}
}

func keys(m map[string]string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for name := range m {
			if !yield(name) {
				return
			}
		}
	}
}

// reasons are the rows of README.md. Each has to follow from something that is there.
func reasons(t *testing.T) map[string]bool {
	t.Helper()
	page, defects, readme := text(t, "../../docs/rest/seed-map.md"), text(t, "../../rest/defect_test.go"),
		text(t, "README.md")
	all := map[string]bool{}
	for line := range strings.Lines(readme) {
		cells := strings.Split(strings.Trim(line, "| \n"), " | ")
		if len(cells) != 3 || cells[0] == "differs" {
			continue
		}
		all[cells[0]] = true
		from := cells[2]
		row, isRow := strings.CutPrefix(from, "seed-map: ")
		number, isDefect := strings.CutPrefix(from, "defect ")
		switch {
		case isRow && !strings.Contains(page, "| "+row):
			t.Errorf("README.md: docs/rest/seed-map.md has no row %s", row)
		case isDefect && !strings.Contains(defects, fmt.Sprintf("%02s_", number)) && !elsewhere[number]:
			t.Errorf("README.md: rest/defect_test.go has no defect %s", number)
		case !isRow && !isDefect && !strings.HasPrefix(from, "["):
			t.Errorf("README.md: %s follows from nothing", cells[0])
		}
	}
	return all
}

// elsewhere are the defects that are tested with the packages that have them.
var elsewhere = map[string]bool{"9": true, "19": true, "21": true}

func text(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
