package rest_test

import (
	"context"
	"encoding/json"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest"
)

// A format that fits no type of its field refuses to register, wherever the field is: nobody would
// read or write the value so.
func TestFormatsThatRefuse(t *testing.T) {
	t.Parallel()

	type none = rest.NoContent
	type coin struct {
		Value int `json:"value"`
	}
	for name, c := range map[string]struct{ got, want string }{
		"time": {registered[struct {
			X time.Time `format:"year" json:"x"`
		}, none](), `field X: the tag format:"year" does not fit time.Time, which takes date-time, date or time`},
		"duration": {registered[struct {
			X time.Duration `format:"date" json:"x"`
		}, none](), `field X: the tag format:"date" does not fit time.Duration, which takes duration`},
		"address": {registered[struct {
			X url.URL `format:"hostname" json:"x"`
		}, none](), `field X: the tag format:"hostname" does not fit url.URL, which takes uri or uri-reference`},
		"number": {registered[struct {
			X int `format:"date" json:"x"`
		}, none](), `field X: the tag format:"date" does not fit int: it is for string and time.Time`},
		"yes or no": {registered[struct {
			X bool `format:"email" json:"x"`
		}, none](), `field X: the tag format:"email" does not fit bool: it is for string`},
		"big": {registered[struct {
			X *big.Int `format:"duration" json:"x"`
		}, none](), `field X: the tag format:"duration" does not fit big.Int: it is for string and time.Duration`},
		"bytes": {registered[struct {
			X []byte `format:"uuid" json:"x"`
		}, none](), `field X: the tag format:"uuid" does not fit []uint8`},
		"object": {registered[struct {
			X coin `format:"date" json:"x"`
		}, none](), `field X: the tag format:"date" does not fit rest_test.coin`},
		"maybe an object": {registered[struct {
			X rest.Opt[coin] `format:"date" json:"x"`
		}, none](), `field X: the tag format:"date" does not fit rest_test.coin`},
		"map": {registered[struct {
			X map[string]time.Time `format:"date" json:"x"`
		}, none](), `field X: the tag format:"date" does not fit map[string]time.Time`},
		"list": {registered[struct {
			X []*time.Time `format:"year" json:"x"`
		}, none](), `field X: the tag format:"year" does not fit time.Time`},
		"maybe": {registered[struct {
			X rest.Opt[time.Time] `format:"year" json:"x"`
		}, none](), `field X: the tag format:"year" does not fit time.Time`},
		"deep": {registered[struct {
			Body map[string][]struct {
				X []int `format:"date" json:"x"`
			}
		}, none](), `field X: the tag format:"date" does not fit int`},
		"embedded": {
			registered[struct{ Body struct{ yearly } }, none](), `field Year: the tag format:"year" does not fit time.Time`,
		},
		"answer": {registered[struct{}, []struct {
			X time.Time `format:"year" json:"x"`
		}](), `field X: the tag format:"year" does not fit time.Time`},
		"parameter": {registered[struct {
			X int `format:"date" query:"x"`
		}, none](), `.X: the tag format:"date" does not fit int: it is for string and time.Time`},
		"list of parameters": {registered[struct {
			X []bool `format:"uuid" query:"x"`
		}, none](), `.X: the tag format:"uuid" does not fit bool`},
		"form": {registered[struct {
			X time.Time `form:"x" format:"year"`
		}, none](), `.X: the tag format:"year" does not fit time.Time`},
	} {
		if !strings.Contains(c.got, c.want) {
			t.Errorf("%s: %q is without %q", name, c.got, c.want)
		}
	}
}

type yearly struct {
	Year time.Time `format:"year" json:"year"`
}

type formats struct {
	Mail    string              `format:"email"      json:"mail,omitempty"`
	Card    *string             `format:"card"       json:"card,omitempty"`
	Maybe   rest.Opt[string]    `format:"uuid"       json:"maybe,omitzero"`
	Hosts   []string            `format:"hostname"   json:"hosts,omitempty"`
	Nested  [][]string          `format:"email"      json:"nested,omitempty"`
	Matrix  [][]time.Time       `format:"date"       json:"matrix,omitempty"`
	Addr    netip.Addr          `format:"ipv4"       json:"addr,omitzero"`
	IP      net.IP              `format:"ipv6"       json:"ip,omitempty"`
	At      time.Time           `format:"date-time"  json:"at,omitzero"`
	Nanos   time.Duration       `format:"int64"      json:"nanos,omitempty"`
	Unix    int64               `format:"unix-time"  json:"unix,omitempty"`
	Small   int                 `format:"int8"       json:"small,omitempty"`
	Price   float64             `format:"decimal"    json:"price,omitempty"`
	Big     string              `format:"int64"      json:"big,omitempty"`
	Bytes   []byte              `format:"byte"       json:"bytes,omitempty"`
	Any     any                 `format:"date"       json:"any,omitempty"`
	Raw     json.RawMessage     `format:"geojson"    json:"raw,omitempty"`
	Link    map[string]*url.URL `format:"by-country" json:"link,omitempty"`
	Site    url.URL             `format:"uri"        json:"site,omitzero"`
	Nothing int                 `format:""           json:"nothing,omitempty"`
}

// What fits stays: formats that are checked on texts, notes for the reader of the document on any
// type, and formats of the items of lists in lists.
func TestFormatsThatFit(t *testing.T) {
	t.Parallel()

	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/formats", func(_ context.Context, in struct{ Body formats }) (formats, error) { return in.Body, nil })
	})
	const whole = `{"mail":"a@example.com","card":"x","hosts":["example.com"],"nested":[["a@example.com"]],"matrix":[["2026-11-22"]],` +
		`"addr":"10.0.0.1","ip":"::1","at":"2026-11-22T00:00:00Z","nanos":5,"unix":6,"small":7,"price":8}`
	status, text := record(api, jsonRequest(http.MethodPost, "/formats", whole))
	if status != http.StatusOK || strings.TrimSpace(text) != whole {
		t.Errorf("%d\n got %s\nwant %s", status, text, whole)
	}
	status, text = record(api, jsonRequest(http.MethodPost, "/formats",
		`{"nested":[["a"]],"matrix":[["2026-11-22T00:00:01Z"]]}`))
	for _, want := range []string{"body.nested[0][0]", "body.matrix[0][0]"} {
		if status != http.StatusUnprocessableEntity || !strings.Contains(text, want) {
			t.Errorf("got %d %s, want %q", status, text, want)
		}
	}
	properties := at(document(t, api), "components", "schemas", "Formats", "properties")
	wantDiff(t, "a list in a list", any(map[string]any{
		"type": "array", "items": map[string]any{
			"type": "array", "items": map[string]any{"type": "string", "format": "date"},
		},
	}), at(properties, "matrix"))
	wantDiff(t, "a note", any("card"), at(properties, "card", "format"))
}
