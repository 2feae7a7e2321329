package rest_test

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

type crate struct {
	ID    int64          `json:"id"`
	Tags  []string       `json:"tags"`
	Meta  map[string]int `json:"meta"`
	Inner []*crate       `json:"inner"`
	Left  []string       `json:"left,omitempty"`
}

// loud is a codec of a program.
type loud struct{}

func (loud) NewEncoder(w io.Writer) rest.Encoder { return json.NewEncoder(w) }

func (loud) Unmarshal(data []byte, into any) error { return json.Unmarshal(data, into) }

func seq[T any](items ...T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, item := range items {
			if !yield(item, nil) {
				return
			}
		}
	}
}

// A list or map that is nil is empty in every kind of answer.
func TestNilListsInAnswers(t *testing.T) {
	t.Parallel()

	shared := &crate{ID: 1, Inner: []*crate{{}}}
	all := []crate{{ID: 1}, {ID: 2, Inner: []*crate{{}}}}
	const none, empty = `"tags":[],"meta":{},"inner":[]`, `{"id":1,"tags":[],"meta":{},"inner":[{"id":0,"tags":[],"meta":{},"inner":[]}]}`
	controller := func(r *rest.Routes) {
		rest.Get(r, "/pointer", func(context.Context, struct{}) (*crate, error) { return shared, nil })
		rest.Get(r, "/value", func(context.Context, struct{}) (crate, error) { return *shared, nil })
		rest.Get(r, "/slice", func(context.Context, struct{}) ([]crate, error) { return []crate{*shared}, nil })
		rest.Get(r, "/map", func(context.Context, struct{}) (map[string]any, error) {
			return map[string]any{"x": shared}, nil
		})
		rest.Get(r, "/reply", func(context.Context, struct{}) (*rest.Reply, error) { return &rest.Reply{Body: *shared}, nil },
			rest.Returns[crate](200))
		rest.Get(r, "/error", func(context.Context, struct{}) (crate, error) {
			return crate{}, &rest.Error{Status: 409, Body: shared}
		}, rest.Returns[crate](409))
		rest.Get(r, "/lines", func(context.Context, struct{}) (rest.Lines[*crate], error) {
			return rest.Lines[*crate]{Items: seq(shared)}, nil
		})
		rest.Get(r, "/events", func(context.Context, struct{}) (rest.Events[crate], error) {
			return rest.Events[crate]{Items: seq(rest.Event[crate]{Data: *shared})}, nil
		})
		for name, p := range map[string]page.Paginator{
			"number": page.Number(), "offset": page.LimitOffset(), "cursor": page.Cursor(page.Sign(page.RandomSecret())),
			"none": page.None(),
		} {
			rest.List(r, "/"+name, func(context.Context, struct{}) ([]crate, error) { return all, nil },
				p, query.Order("id"), query.OrderDefault("id"), rest.Name(name))
		}
		rest.List(r, "/view", func(context.Context, struct{}) ([]crate, error) { return all, nil }, page.Number(),
			rest.View(func(c crate) map[string]any { return map[string]any{"crate": &c} }))
	}
	for _, api := range []http.Handler{serve(controller), serve(controller, rest.JSON(loud{}))} {
		for path, want := range map[string]string{
			"/pointer": empty, "/value": empty, "/slice": "[" + empty + "]", "/map": `{"x":` + empty + `}`, "/reply": empty,
			"/error": empty, "/lines": empty, "/events": "data: " + empty,
		} {
			if _, text := record(api, jsonRequest(http.MethodGet, path, "")); strings.TrimSpace(text) != want {
				t.Errorf("%s: got %s, want %s", path, text, want)
			}
		}
		for _, path := range []string{"/number", "/offset", "/cursor", "/none", "/view"} {
			_, text := record(api, jsonRequest(http.MethodGet, path, ""))
			if !strings.Contains(text, none) || strings.Contains(text, `"tags":null`) || strings.Contains(text, `"inner":null`) {
				t.Errorf("%s: %s", path, text)
			}
		}
	}
	if shared.Tags != nil || shared.Inner[0].Meta != nil || all[0].Tags != nil {
		t.Error("what the program holds was written to")
	}
}

type visit struct {
	Day    time.Time               `format:"date"           json:"day"`
	Until  *time.Time              `format:"date"           json:"until,omitempty"`
	Days   []time.Time             `format:"date"           json:"days,omitempty"`
	Maybe  rest.Opt[time.Time]     `format:"date"           json:"maybe,omitzero"`
	Due    time.Time               `format:"date"           json:"due,omitzero"`
	Opens  time.Time               `format:"time"           json:"opens,omitzero"`
	Long   time.Duration           `format:"duration"       json:"long,omitzero"`
	Link   url.URL                 `json:"link,omitzero"`
	Links  map[string]*url.URL     `json:"links,omitempty"`
	Ref    *url.URL                `format:"uri-reference"  json:"ref,omitempty"`
	Nested map[string][]*innerDate `json:"nested,omitempty"`
}

type innerDate struct {
	On time.Time `format:"date" json:"on"`
}

type dated struct {
	Path  time.Time     `format:"date"        path:"day"`
	Query *time.Time    `format:"date"        query:"on"`
	List  []time.Time   `format:"date"        query:"at"`
	Clock time.Time     `format:"time"        query:"clock"`
	Long  time.Duration `default:"1h30m"      format:"duration" query:"long"`
	Since time.Time     `default:"2026-01-02" format:"date"     query:"since"`
	Link  *url.URL      `query:"link"`
	Body  visit
}

// Dates, times of day, durations and addresses are read as they are written, and the
// document says so.
func TestDatesGoBothWays(t *testing.T) {
	t.Parallel()

	var endpoint *rest.Endpoint[dated, visit]
	api := serve(func(r *rest.Routes) {
		endpoint = rest.Post(r, "/visits/{day}", func(_ context.Context, in dated) (visit, error) { return in.Body, nil },
			rest.Name("visits"))
	})
	const whole = `{"day":"2026-11-22","until":"2026-11-23","days":["2026-11-24"],"maybe":"2026-11-25","due":"2026-11-26","opens":"15:04:05",` +
		`"long":"PT1H30M","link":"https://example.com/a?b=c","links":{"x":"https://example.com"},"ref":"/a","nested":{"k":[{"on":"2026-11-27"}]}}`
	status, text := record(api, jsonRequest(http.MethodPost,
		"/visits/2026-11-22?on=2026-11-22&at=2026-11-22&clock=09:30:00&long=PT5M&link=https://example.com", whole))
	if status != http.StatusOK || strings.TrimSpace(text) != whole {
		t.Errorf("%d\n got %s\nwant %s", status, text, whole)
	}
	if _, text = record(
		api, jsonRequest(http.MethodPost, "/visits/2026-11-22", `{"day":"2026-11-22"}`),
	); strings.TrimSpace(text) != `{"day":"2026-11-22"}` {
		t.Errorf("only the day: %s", text)
	}

	for body, want := range map[string]string{
		`{"day":"2026-11-22T00:00:01Z"}`: "body.day date_parsing", `{"day":"2026-02-30"}`: "body.day date_parsing",
		`{"day":20261122}`: "body.day string_type", `{"day":"2026-11-22","days":["x"]}`: "body.days[0] date_parsing",
		`{"day":"2026-11-22","maybe":"x"}`:                "body.maybe date_parsing",
		`{"day":"2026-11-22","opens":"9:30"}`:             "body.opens time_parsing",
		`{"day":"2026-11-22","long":5}`:                   "body.long string_type",
		`{"day":"2026-11-22","long":"P1M"}`:               "body.long time_delta_parsing",
		`{"day":"2026-11-22","link":"/a"}`:                "body.link url_parsing",
		`{"day":"2026-11-22","links":{"x":"%zz"}}`:        "body.links.x url_parsing",
		`{"day":"2026-11-22","nested":{"k":[{"on":""}]}}`: "body.nested.k[0].on date_parsing",
	} {
		a := resttest.Do[visit](t, api, http.MethodPost, "/visits/2026-11-22", resttest.Content("application/json", body))
		if a.Error == nil || len(a.Error.Faults) != 1 || a.Error.Faults[0].Location+" "+a.Error.Faults[0].Kind != want {
			t.Errorf("%s: got %s, want %s", body, a.Text, want)
		}
	}
	for query, want := range map[string]string{
		"on=x": "query.on date_parsing", "at=2026-11-22&at=x": "query.at[1] date_parsing",
		"clock=1": "query.clock time_parsing", "long=P1Y": "query.long time_delta_parsing",
		"link=/a": "query.link url_parsing", "since=2026-11-22T00:00:01Z": "query.since date_parsing",
	} {
		a := resttest.Do[visit](t, api, http.MethodPost, "/visits/2026-11-22?"+query,
			resttest.Content("application/json", `{"day":"2026-11-22"}`))
		if a.Error == nil || len(a.Error.Faults) != 1 || a.Error.Faults[0].Location+" "+a.Error.Faults[0].Kind != want {
			t.Errorf("%s: got %s, want %s", query, a.Text, want)
		}
	}

	midnight := resttest.Do[visit](t, api, http.MethodPost, "/visits/2026-11-22?since=2026-11-22T00:00:00%2B02:00",
		resttest.Content("application/json", `{"day":"2026-11-22T00:00:00.000-08:00"}`))
	if !strings.HasPrefix(midnight.Text, `{"day":"2026-11-22"`) {
		t.Errorf("a day at midnight: got %s", midnight.Text)
	}

	day := time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)
	link := &url.URL{Scheme: "https", Host: "example.com"}
	in := dated{
		Path: day, Query: &day, List: []time.Time{day}, Clock: time.Date(0, 1, 1, 9, 30, 0, 0, time.UTC), Long: time.Minute,
		Since: day, Link: link,
		Body: visit{Day: day, Due: day, Link: *link, Long: time.Hour, Nested: map[string][]*innerDate{"k": {{On: day}}}},
	}
	if address, err := endpoint.URL(in); err != nil ||
		address !=
			"/visits/2026-11-22?on=2026-11-22&at=2026-11-22&clock=09%3A30%3A00&long=PT1M&since=2026-11-22&link=https%3A%2F%2Fexample.com" {
		t.Errorf("got %s %v", address, err)
	}
	a := resttest.Call(t, api, endpoint, in)
	if a.Status != http.StatusOK || !a.Body.Day.Equal(day) || a.Body.Link.String() != link.String() ||
		a.Body.Long != time.Hour || !a.Body.Nested["k"][0].On.Equal(day) {
		t.Errorf("a typed call: %d %s", a.Status, a.Text)
	}
	sent := resttest.Do[visit](t, api, http.MethodPost, "/visits/2026-11-22", resttest.JSON(visit{Day: day, Due: day}))
	if sent.Status != http.StatusOK || !sent.Body.Due.Equal(day) {
		t.Errorf("a value of the type: %d %s", sent.Status, sent.Text)
	}
}

// The document says of a date what is read and written.
func TestDatesInTheDocument(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/visits/{day}", func(_ context.Context, in dated) (visit, error) { return in.Body, nil })
	})
	text, err := api.OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	type schema struct {
		Type, Format string
		Default      any
		Items        *struct{ Type, Format string }
		Props        map[string]any `json:"additionalProperties"`
	}
	var doc struct {
		Paths map[string]map[string]struct {
			Parameters []struct {
				Name   string
				Schema schema
			}
		}
		Components struct {
			Schemas map[string]struct {
				Properties map[string]json.RawMessage
			}
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, p := range doc.Paths["/visits/{day}"]["post"].Parameters {
		got[p.Name] = p.Schema.Type + " " + p.Schema.Format
		if p.Schema.Items != nil {
			got[p.Name] += p.Schema.Items.Format
		}
		if p.Schema.Default != nil {
			got[p.Name] += " " + p.Schema.Default.(string) //nolint:errcheck // it panics where it is none
		}
	}
	want := map[string]string{
		"day": "string date", "on": "string date", "at": "array date", "clock": "string time",
		"long": "string duration PT1H30M", "since": "string date 2026-01-02", "link": "string uri",
	}
	wantDiff(t, "parameters", want, got)

	for _, name := range slices.Sorted(maps.Keys(doc.Components.Schemas)) {
		if !strings.HasPrefix(name, "Visit") {
			continue
		}
		properties := doc.Components.Schemas[name].Properties
		for field, words := range map[string]string{
			"day": `"format":"date"`, "days": `"format":"date"`, "opens": `"format":"time"`, "long": `"format":"duration"`,
			"link": `"format":"uri"`, "ref": `"format":"uri-reference"`,
		} {
			if text := strings.ReplaceAll(
				strings.ReplaceAll(string(properties[field]), " ", ""), "\n", "",
			); !strings.Contains(text, words) {
				t.Errorf("%s.%s: %s", name, field, text)
			}
		}
		if text := string(properties["long"]); !strings.Contains(text, "string") || strings.Contains(text, "integer") {
			t.Error(text)
		}
	}
}
