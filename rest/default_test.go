package rest_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
)

type defaults struct {
	At    time.Time       `default:"2026-01-02T03:04:05Z"  json:"at"`
	Day   time.Time       `default:"2026-01-02"            format:"date"          json:"day"`
	Due   *time.Time      `default:"2026-01-03"            format:"date"          json:"due"`
	Days  []time.Time     `default:"2026-01-04,2026-01-05" format:"date"          json:"days"`
	Times []time.Time     `default:"[\"15:04:05\"]"        format:"time"          json:"times"`
	Long  time.Duration   `default:"1h30m"                 format:"duration"      json:"long"`
	Longs []time.Duration `default:"PT1M"                  format:"duration"      json:"longs"`
	Nanos time.Duration   `default:"1000"                  json:"nanos"`
	Link  url.URL         `default:"https://example.com"   json:"link"`
	Ref   *url.URL        `default:"/a"                    format:"uri-reference" json:"ref"`
	Addr  netip.Addr      `default:"10.0.0.1"              json:"addr"`
	Level slog.Level      `default:"INFO"                  json:"level"`
	Count int             `default:"3"                     json:"count"           minimum:"1"`
	Name  string          `dependentRequired:"title"       json:"name,omitempty"`
	Title string          `json:"title,omitempty"          maxLength:"5"`
	Inner []struct {
		Day time.Time `default:"2026-02-01" format:"date" json:"day"`
	} `json:"inner,omitempty"`
	_ struct{} `additionalProperties:"true"`
}

// A default is written as a request would have it, also where the type of the field is a time, a
// duration, an address or reads its own text. The document has it in the same form.
func TestDefaultsOfTexts(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/defaults", func(_ context.Context, in struct{ Body defaults }) (defaults, error) {
			return in.Body, nil
		})
	})
	const filled = `{"at":"2026-01-02T03:04:05Z","day":"2026-01-02","due":"2026-01-03","days":["2026-01-04","2026-01-05"],"times":["15:04:05"],` +
		`"long":"PT1H30M","longs":["PT1M"],"nanos":1000,"link":"https://example.com","ref":"/a","addr":"10.0.0.1","level":"INFO","count":3,` +
		`"inner":[{"day":"2026-02-01"}]}`
	for range 2 { // what one request has gotten is not what the next one gets
		status, text := record(api, jsonRequest(http.MethodPost, "/defaults", `{"inner":[{}],"more":1}`))
		if status != http.StatusOK || strings.TrimSpace(text) != filled {
			t.Errorf("%d\n got %s\nwant %s", status, text, filled)
		}
	}
	for body, want := range map[string]string{
		`{"name":"a"}`:                      "title",
		`{"title":"abcdef"}`:                "body.title",
		`{"day":"2026-01-02T03:04:05Z"}`:    "body.day",
		`{"count":0}`:                       "body.count",
		`{"inner":[{"day":1}]}`:             "body.inner[0].day",
		`{"inner":[{"other":"closed"}]}`:    "body.inner[0].other",
		`{"long":"soon"}`:                   "body.long",
		`{"nanos":"PT1S","addr":"nowhere"}`: "body.addr",
	} {
		if status, text := record(
			api, jsonRequest(http.MethodPost, "/defaults", body),
		); status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("%s: got %d %s, want %q", body, status, text, want)
		}
	}

	property := func(name string) any {
		return at(document(t, api), "components", "schemas", "DefaultsInput", "properties", name)
	}
	for name, want := range map[string]any{
		"at": "2026-01-02T03:04:05Z", "day": "2026-01-02", "due": "2026-01-03", "long": "PT1H30M",
		"link": "https://example.com", "ref": "/a", "days": []any{"2026-01-04", "2026-01-05"}, "nanos": 1000.0,
		"addr": "10.0.0.1", "level": "INFO", "count": 3.0,
	} {
		wantDiff(t, name, want, at(property(name), "default"))
	}
	wantDiff(t, "format of a list", any("date"), at(property("days"), "items", "format"))
	wantDiff(t, "format of a duration", any("duration"), at(property("long"), "format"))
	if required := at(document(t, api), "components", "schemas", "DefaultsInput", "required"); required != nil {
		t.Errorf("a request has to have %v", required)
	}
}

// A default that does not fit refuses to register, in plain words that name type, field and tag.
func TestDefaultsThatRefuse(t *testing.T) {
	t.Parallel()

	type none = rest.NoContent
	for name, c := range map[string]struct{ got, want string }{
		"day": {
			registered[struct {
				X time.Time `default:"2026-13-02" format:"date" json:"x"`
			}, none](),
			`field X: the tag default:"2026-13-02" does not fit time.Time: it is written as in a request, such as 2026-11-22`,
		},
		"time": {
			registered[struct {
				X time.Time `default:"2026-01-02" json:"x"`
			}, none](),
			`field X: the tag default:"2026-01-02" does not fit time.Time: it is written as in a request, such as 2026-11-22T15:04:05Z`,
		},
		"now": {registered[struct {
			X *time.Time `default:"now" json:"x"`
		}, none](), `field X: the tag default:"now" does not fit *time.Time`},
		"duration": {
			registered[struct {
				X time.Duration `default:"soon" format:"duration" json:"x"`
			}, none](),
			`field X: the tag default:"soon" does not fit time.Duration: it is written as in a request, such as PT1H30M`,
		},
		"nanoseconds": {
			registered[struct {
				X time.Duration `default:"1h" json:"x"`
			}, none](),
			`field X: the tag default:"1h" does not fit time.Duration: without the tag format:"duration" JSON has a number of nanoseconds`,
		},
		"list": {registered[struct {
			X []time.Time `default:"2026-01-02,soon" format:"date" json:"x"`
		}, none](), `field X: the tag default:"2026-01-02,soon" does not fit []time.Time`},
		"own text": {registered[struct {
			X netip.Addr `default:"nowhere" json:"x"`
		}, none](), `field X: default:"nowhere" does not fit netip.Addr`},
		"absent": {registered[struct {
			X rest.Opt[time.Time] `default:"2026-01-02T03:04:05Z" json:"x"`
		}, none](), "field X: a value that may be absent cannot have a default"},
		"required": {registered[struct {
			X time.Time `default:"2026-01-02T03:04:05Z" json:"x" required:"true"`
		}, none](), "field X: a required field has no use for a default"},
		"answer": {registered[struct{}, struct {
			X time.Time `default:"never" json:"x"`
		}](), `field X: the tag default:"never" does not fit time.Time`},
		"dependents": {registered[struct {
			X time.Time `default:"2026-01-02T03:04:05Z" dependentRequired:"y" json:"x"`
		}, none](), "dependent field 'y' for field 'x' does not exist"},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %q is without %q", name, c.got, c.want)
		}
	}
}
