package main_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

type Volume struct {
	ID      int64   `json:"id"`
	ISBN    string  `json:"isbn"           minLength:"10"`
	Title   string  `json:"title"          maxLength:"80" minLength:"1"`
	Note    *string `json:"note,omitempty"`
	Sold    int64   `crud:"readonly"       json:"sold"`
	Version int64   `crud:"version"        json:"version"`
}

type VolumeFilter struct {
	Title *string `filter:"__icontains"`
}

type Volumes struct{ crud.Controller[Volume, int64] }

func NewVolumes(store crud.Store[Volume, int64]) *Volumes {
	return &Volumes{crud.New(store, crud.Config[Volume]{
		Pagination: crud.Pagination{
			Paginator: page.Number(page.Size(20)),
			Filter:    query.Filter[VolumeFilter](),
			Ordering:  []string{"title"},
		},
		Hooks: crud.Hooks[Volume]{BeforeDelete: func(_ context.Context, row Volume) error {
			if row.Sold > 0 {
				return rest.Conflict("It was sold already.")
			}
			return nil
		}},
	})}
}

func Example_crud() {
	store := crud.Memory[Volume, int64](crud.MemoryConfig{Unique: [][]string{{"isbn"}}})
	api := rest.New(silent())
	api.Register(NewVolumes(store), rest.Prefix("/volumes"))

	do := func(method, target, body, match string) {
		q := request{method: method, target: target, body: body, header: map[string]string{}}
		if match != "" {
			q.header["If-Match"] = match
		}
		w := send(api, q)
		fmt.Println(
			strings.Join(
				strings.Fields(fmt.Sprint(w.Code, " ", w.Header().Get("Location"), " ", w.Header().Get("ETag"), " ", w.Body)), " ",
			),
		)
	}
	do(http.MethodPost, "/volumes", `{"isbn": "0141439580", "title": "Emma", "note": "worn"}`, "")
	do(http.MethodPost, "/volumes", `{"isbn": "0141439580", "title": "Emma again"}`, "")
	do(http.MethodPatch, "/volumes/1", `{"title": "Emma, 1815"}`, `"1"`)
	do(http.MethodPatch, "/volumes/1", `{"title": "EMMA"}`, `"1"`)
	do(http.MethodPut, "/volumes/1", `{"isbn": "0141439580", "title": "Emma"}`, "")
	do(http.MethodGet, "/volumes?title=emm&ordering=-title", "", "")
	do(http.MethodDelete, "/volumes/1", "", "")
	do(http.MethodGet, "/volumes/1", "", "")

	// Output:
	// 201 /volumes/1 "1" {"id":1,"isbn":"0141439580","title":"Emma","note":"worn","sold":0,"version":1}
	// 409 {"type":"about:blank","title":"Conflict","status":409,"detail":"There is a Volume with this isbn already.","code":"not_unique","errors":[{"location":"body.isbn","pointer":"/isbn","kind":"value_error","message":"must be unique, but there is one like it already"}]}
	// 200 "2" {"id":1,"isbn":"0141439580","title":"Emma, 1815","note":"worn","sold":0,"version":2}
	// 412 "2" {"type":"about:blank","title":"Precondition Failed","status":412,"detail":"The Volume has changed since: read it again.","code":"precondition_failed"}
	// 200 "3" {"id":1,"isbn":"0141439580","title":"Emma","sold":0,"version":3}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":1,"isbn":"0141439580","title":"Emma","sold":0,"version":3}]}
	// 204
	// 404 {"type":"about:blank","title":"Not Found","status":404,"detail":"Volume was not found.","code":"not_found"}
}
