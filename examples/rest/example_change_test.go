package main_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// Notes have a version each.
type Notes struct{ all map[int64]Note }

type Note struct {
	Text    string `json:"text"`
	Version int    `json:"version" readOnly:"true"`
}

func (n Note) validators() rest.Validators {
	if n.Version == 0 {
		return rest.Validators{}
	}
	return rest.Validators{Tag: fmt.Sprintf(`"v%d"`, n.Version)}
}

type noteID struct {
	ID int64 `path:"id"`
}

func (s *Notes) Routes(r *rest.Routes) {
	rest.Get(r, "/notes/{int:id}", s.get, rest.Conditional())
	rest.Put(r, "/notes/{int:id}", s.put, rest.Conditional())
}

func (s *Notes) get(ctx context.Context, in noteID) (Note, error) {
	note := s.all[in.ID]
	return note, rest.CheckConditions(ctx, note.validators())
}

func (s *Notes) put(ctx context.Context, in struct {
	noteID

	Body Note
},
) (Note, error) {
	before := s.all[in.ID]
	if err := rest.CheckConditions(ctx, before.validators()); err != nil {
		return Note{}, err
	}
	s.all[in.ID] = Note{Text: in.Body.Text, Version: before.Version + 1}
	return s.all[in.ID], nil
}

func Example_conditions() {
	api := rest.New(silent())
	api.Register(&Notes{map[int64]Note{1: {"milk", 1}}})
	for _, c := range []string{
		"GET", `GET If-None-Match "v1"`, `PUT If-Match "v0"`, `PUT If-None-Match *`, `PUT If-Match "v1"`,
	} {
		q := request{target: "/notes/1", header: map[string]string{}}
		words := strings.Fields(c)
		if q.method = words[0]; len(words) > 1 {
			q.header[words[1]] = words[2]
		}
		if q.method == http.MethodPut {
			q.body = `{"text":"tea"}`
		}
		w := send(api, q)
		_, detail, _ := strings.Cut(strings.TrimSpace(w.Body.String()), `"detail":"`)
		detail, _, _ = strings.Cut(detail, `"`)
		if q.method == http.MethodGet {
			detail = strings.TrimSpace(w.Body.String())
		}
		line := fmt.Sprintf("%-24s %d %s %s", c, w.Code, w.Header().Get("ETag"), detail)
		fmt.Println(strings.TrimSpace(line))
	}

	// Output:
	// GET                      200 "v1" {"text":"milk","version":1}
	// GET If-None-Match "v1"   304 "v1"
	// PUT If-Match "v0"        412 "v1" The resource has changed since: read it again.
	// PUT If-None-Match *      412 "v1" The resource is there already.
	// PUT If-Match "v1"        200
}

// Albums are changed by merge patches.
type Albums struct{ all map[int64]Album }

type Album struct {
	ID     int64    `json:"id"     readOnly:"true"`
	Title  string   `json:"title"`
	Artist Artist   `json:"artist"`
	Tags   []string `json:"tags"`
}

type Artist struct {
	Name string `json:"name"`
	City string `json:"city,omitempty"`
}

type rename struct {
	ID   int64 `path:"id"`
	Body rest.MergePatch[Album]
}

func (c *Albums) change(ctx context.Context, in rename) (Album, error) {
	album, err := in.Body.Apply(ctx, c.all[in.ID])
	if err == nil {
		c.all[in.ID] = album
	}
	return album, err
}

func Example_mergePatch() {
	albums := &Albums{
		map[int64]Album{1: {ID: 1, Title: "Blue", Artist: Artist{"Joni", "Saskatoon"}, Tags: []string{"folk"}}},
	}
	api := rest.New(silent())
	api.Register(routes(func(r *rest.Routes) { rest.Patch(r, "/albums/{int:id}", albums.change) }))
	for _, patch := range []string{`{"artist":{"city":null}}`, `{"tags":["live"]}`, `{"title":null}`} {
		w := send(api, request{method: http.MethodPatch, target: "/albums/1", body: patch})
		if w.Code == http.StatusOK {
			fmt.Print(w.Code, " ", w.Body)
			continue
		}
		var problem rest.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &problem); err != nil || len(problem.Errors) != 1 {
			fmt.Println(err, w.Body)
			continue
		}
		fmt.Println(w.Code, problem.Errors[0].Kind, problem.Errors[0].Location)
	}

	// Output:
	// 200 {"id":1,"title":"Blue","artist":{"name":"Joni"},"tags":["folk"]}
	// 200 {"id":1,"title":"Blue","artist":{"name":"Joni"},"tags":["live"]}
	// 422 missing body.title
}
