package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/spoolhq/spool/rest"
)

// besides compares rest with net/http by hand and with huma, which must answer alike.
func besides(title, how string, c call, plain http.HandlerFunc, routes restRoutes, register func(huma.API)) *extra {
	mux := http.NewServeMux()
	path, _, _ := strings.Cut(c.target, "?")
	mux.HandleFunc(c.method+" "+path, plain)
	api := rest.New(rest.Title("catalog"))
	api.Register(routes)
	config := huma.DefaultConfig("catalog", "1")
	config.CreateHooks = nil
	config.Formats = map[string]huma.Format{"application/json": encodingJSON, "json": encodingJSON}
	below := http.NewServeMux()
	register(humago.New(below, config))
	return &extra{
		title: title, how: how, most: map[string]float64{nameRest: 1.2},
		subjects: []*subject{
			{name: base, exchange: newExchange(mux, c)},
			{name: nameRest, exchange: newExchange(api, c)},
			{name: nameNoLink, exchange: newExchange(below, c)},
		},
	}
}

// missing is a request that no route takes. net/http and huma answer with a text, and rest with a problem.
func missing(c *catalog) *extra {
	at := func(name string, h http.Handler) *subject {
		return &subject{name: name, exchange: newExchange(h, getCall("/nowhere/417"))}
	}
	return &extra{
		title: "a 404", how: "A path without a route. The mux of net/http answers with a text, and rest with a problem.",
		subjects: []*subject{at(base, newBare(c)), at(nameRest, newRest(c))},
		status:   http.StatusNotFound, most: map[string]float64{nameRest: 1},
	}
}

// wide has 15 parameters.
type wide struct {
	A1 int    `query:"a1" maximum:"99"`
	A2 int    `query:"a2" maximum:"99"`
	A3 int    `query:"a3" maximum:"99"`
	A4 int    `query:"a4" maximum:"99"`
	A5 int    `query:"a5" maximum:"99"`
	B1 string `query:"b1" maxLength:"20"`
	B2 string `query:"b2" maxLength:"20"`
	B3 string `query:"b3" maxLength:"20"`
	B4 string `query:"b4" maxLength:"20"`
	B5 string `query:"b5" maxLength:"20"`
	C1 bool   `query:"c1"`
	C2 bool   `query:"c2"`
	C3 bool   `query:"c3"`
	C4 bool   `query:"c4"`
	C5 bool   `query:"c5"`
}

// total is the answer to wide and to order.
type total struct {
	Sum   int    `json:"sum"`
	Text  string `json:"text"`
	Count int    `json:"count"`
}

func (w *wide) total() total {
	t := total{Sum: w.A1 + w.A2 + w.A3 + w.A4 + w.A5, Text: w.B1 + w.B2 + w.B3 + w.B4 + w.B5}
	for _, c := range []bool{w.C1, w.C2, w.C3, w.C4, w.C5} {
		if c {
			t.Count++
		}
	}
	return t
}

// read reads the parameters by hand.
func (w *wide) read(query url.Values) error {
	for i, to := range []*int{&w.A1, &w.A2, &w.A3, &w.A4, &w.A5} {
		n, err := strconv.Atoi(query.Get("a" + strconv.Itoa(i+1)))
		if err != nil || n > 99 {
			return fmt.Errorf("a%d is not a number up to 99", i+1)
		}
		*to = n
	}
	for i, to := range []*string{&w.B1, &w.B2, &w.B3, &w.B4, &w.B5} {
		if *to = query.Get("b" + strconv.Itoa(i+1)); len(*to) > 20 {
			return fmt.Errorf("b%d is too long", i+1)
		}
	}
	for i, to := range []*bool{&w.C1, &w.C2, &w.C3, &w.C4, &w.C5} {
		yes, err := strconv.ParseBool(query.Get("c" + strconv.Itoa(i+1)))
		if err != nil {
			return fmt.Errorf("c%d is neither true nor false", i+1)
		}
		*to = yes
	}
	return nil
}

func wideQuery() *extra {
	target := "/wide?a1=11&a2=12&a3=13&a4=14&a5=15&b1=oak&b2=elm&b3=ash&b4=yew&b5=fir&c1=true&c2=false&c3=true&c4=false&c5=true"
	return besides("15 query parameters", "Five numbers, five texts and five flags, all of which are sent.",
		getCall(target),
		func(w http.ResponseWriter, r *http.Request) {
			var in wide
			if err := in.read(r.URL.Query()); err != nil {
				writeMarshaled(w, http.StatusUnprocessableEntity, contentProblem, err.Error())
				return
			}
			writeMarshaled(w, http.StatusOK, contentJSON, in.total())
		},
		func(r *rest.Routes) {
			rest.Get(r, "/wide", func(_ context.Context, in wide) (total, error) { return in.total(), nil })
		},
		func(api huma.API) {
			huma.Get(api, "/wide", func(_ context.Context, in *wide) (*humaBody[total], error) {
				return &humaBody[total]{in.total()}, nil
			})
		})
}

// order is a nested body.
type order struct {
	Customer struct {
		Name    string `json:"name"  maxLength:"80" minLength:"1"`
		Email   string `json:"email" maxLength:"80" minLength:"3"`
		Address struct {
			Street string `json:"street" maxLength:"80" minLength:"1"`
			City   string `json:"city"   maxLength:"80" minLength:"1"`
			Code   string `json:"code"   maxLength:"10" minLength:"1"`
		} `json:"address"`
	} `json:"customer"`
	Lines []orderLine       `json:"lines"    maxItems:"20" minItems:"1"`
	Notes map[string]string `json:"notes"`
}

type orderLine struct {
	SKU      string   `json:"sku"      maxLength:"20" minLength:"1"`
	Quantity int      `json:"quantity" maximum:"1000" minimum:"1"`
	Tags     []string `json:"tags"     maxItems:"8"`
}

func (o *order) total() total {
	t := total{Text: o.Customer.Address.City, Count: len(o.Lines)}
	for i := range o.Lines {
		t.Sum += o.Lines[i].Quantity
	}
	return t
}

// wrong returns the first value that breaks a limit.
func (o *order) wrong() string {
	c := &o.Customer
	for _, text := range []string{c.Name, c.Email, c.Address.Street, c.Address.City, c.Address.Code} {
		if text == "" || len(text) > 80 {
			return "customer"
		}
	}
	if len(o.Lines) == 0 || len(o.Lines) > 20 {
		return "lines"
	}
	for _, l := range o.Lines {
		if l.SKU == "" || len(l.SKU) > 20 || l.Quantity < 1 || l.Quantity > 1000 || len(l.Tags) > 8 {
			return "lines"
		}
	}
	return ""
}

func nestedBody() *extra {
	var lines []string
	for i := range 5 {
		lines = append(lines, fmt.Sprintf(`{"sku":"WAL-004%d","quantity":%d,"tags":["wood","desk"]}`, i, i+1))
	}
	body := `{"customer":{"name":"Ada Lovelace","email":"ada@example.com","address":{"street":"St James's Square 12","city":"London",` +
		`"code":"SW1Y"}},"lines":[` + strings.Join(lines, ",") + `],"notes":{"gift":"yes","door":"the green one"}}`
	return besides("a nested body", "An order with a customer, an address, five lines with tags, and a map.",
		call{method: http.MethodPost, target: "/orders", body: body},
		func(w http.ResponseWriter, r *http.Request) {
			var in order
			decoder := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20))
			decoder.DisallowUnknownFields()
			err := decoder.Decode(&in)
			if wrong := in.wrong(); err != nil || wrong != "" {
				writeMarshaled(w, http.StatusUnprocessableEntity, contentProblem, wrong)
				return
			}
			writeMarshaled(w, http.StatusOK, contentJSON, in.total())
		},
		func(r *rest.Routes) {
			rest.Post(r, "/orders", func(_ context.Context, in struct{ Body order }) (total, error) {
				return in.Body.total(), nil
			})
		},
		func(api huma.API) {
			huma.Post(api, "/orders", func(_ context.Context, in *humaBody[order]) (*humaBody[total], error) {
				return &humaBody[total]{in.Body.total()}, nil
			})
		})
}
