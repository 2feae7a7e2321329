package crud_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
)

type Song struct {
	ID      int64   `json:"id"`
	Title   string  `json:"title"   minLength:"1"`
	Seconds int     `json:"seconds" minimum:"1"`
	Album   *string `json:"album"`
	Version int64   `crud:"version" json:"version"`
}

type SongFilter struct {
	Shorter *int `filter:"seconds,lt" query:"shorter"`
}

type Songs struct {
	crud.Controller[Song, int64]
}

func NewSongs(store crud.Store[Song, int64]) *Songs {
	return &Songs{crud.New(store, crud.Config[Song]{
		Pagination: crud.Pagination{
			Paginator: page.Number(page.Size(2)), Filter: query.Filter[SongFilter](), Ordering: []string{"seconds"},
		},
	})}
}

// show sends a request and prints what comes back.
func show(h http.Handler, method, path, body string, header ...string) {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(strings.TrimSpace(strconv.Itoa(w.Code) + " " + w.Body.String())) //nolint:forbidigo // it is an example's output
}

func Example() {
	api := rest.New()
	api.Register(NewSongs(crud.Memory[Song, int64](crud.MemoryConfig{})), rest.Prefix("/songs"))

	show(api, "POST", "/songs", `{"title":"One","seconds":200,"album":"A"}`)
	show(api, "POST", "/songs", `{"title":"Two","seconds":100}`)
	show(api, "GET", "/songs?shorter=150", "")
	show(api, "PUT", "/songs/1", `{"title":"One","seconds":201}`)
	show(api, "PATCH", "/songs/1", `{"album":"B"}`, "If-Match", `"2"`)
	show(api, "DELETE", "/songs/2", "")
	show(api, "GET", "/songs?ordering=-seconds", "")
	// Output:
	// 201 {"id":1,"title":"One","seconds":200,"album":"A","version":1}
	// 201 {"id":2,"title":"Two","seconds":100,"album":null,"version":1}
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":2,"title":"Two","seconds":100,"album":null,"version":1}]}
	// 200 {"id":1,"title":"One","seconds":201,"album":null,"version":2}
	// 200 {"id":1,"title":"One","seconds":201,"album":"B","version":3}
	// 204
	// 200 {"count":1,"next":null,"previous":null,"results":[{"id":1,"title":"One","seconds":201,"album":"B","version":3}]}
}

// A controller adds routes of its own to those of its model.
type Playable struct {
	crud.Controller[Song, int64]
}

type play struct {
	ID int64 `path:"id"`
}

func (p *Playable) Routes(r *rest.Routes) {
	r.Inherit(&p.Controller)
	rest.Post(r, "/{int:id}/play", p.play)
}

func (p *Playable) play(ctx context.Context, in play) (string, error) {
	song, err := p.Get(ctx, in.ID)
	return "playing " + song.Title, err
}

func ExampleController() {
	store := crud.Memory[Song, int64](crud.MemoryConfig{})
	api := rest.New()
	api.Register(&Playable{crud.New(store, crud.Config[Song]{})}, rest.Prefix("/songs"))

	show(api, "POST", "/songs", `{"title":"One","seconds":200}`)
	show(api, "POST", "/songs/1/play", "")
	// Output:
	// 201 {"id":1,"title":"One","seconds":200,"album":null,"version":1}
	// 200 "playing One"
}

type SongIn struct {
	Name string `json:"name" minLength:"1"`
}

type SongOut struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

// A controller may show another face than its model's.
func ExampleInput() {
	store := crud.Memory[Song, int64](crud.MemoryConfig{})
	songs := &Songs{crud.New(store, crud.Config[Song]{
		AllowedRoutes: []crud.Route{crud.Create, crud.FindOne},
		Create: crud.Input(func(_ context.Context, in SongIn, row *Song) error {
			row.Title, row.Seconds = in.Name, 1
			return nil
		}),
		Out: crud.Output(func(row Song) SongOut { return SongOut{row.ID, row.Title} }),
	})}
	api := rest.New()
	api.Register(songs, rest.Prefix("/songs"))

	show(api, "POST", "/songs", `{"name":"One"}`)
	show(api, "GET", "/songs/1", "")
	// Output:
	// 201 {"number":1,"name":"One"}
	// 200 {"number":1,"name":"One"}
}

// Hooks run in the transaction of the write, and may refuse it.
func ExampleHooks() {
	songs := &Songs{crud.New(crud.Memory[Song, int64](crud.MemoryConfig{}), crud.Config[Song]{
		Hooks: crud.Hooks[Song]{BeforeCreate: func(_ context.Context, row *Song) error {
			if row.Seconds > 3600 {
				return rest.Conflict("No song is that long.")
			}
			row.Title = strings.ToUpper(row.Title)
			return nil
		}},
	})}
	api := rest.New()
	api.Register(songs, rest.Prefix("/songs"))

	show(api, "POST", "/songs", `{"title":"One","seconds":200}`)
	show(api, "POST", "/songs", `{"title":"Two","seconds":4000}`)
	// Output:
	// 201 {"id":1,"title":"ONE","seconds":200,"album":null,"version":1}
	// 409 {"type":"about:blank","title":"Conflict","status":409,"detail":"No song is that long.","code":"conflict"}
}
