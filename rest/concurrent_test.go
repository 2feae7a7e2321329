package rest_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/page"
	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/resttest"
)

// mixed is an input whose texts come from everywhere.
type mixed struct {
	ID    int64    `path:"id"    json:"id"`
	Query string   `query:"q"    json:"query"`
	Tags  []string `query:"tag"  json:"tags"`
	Trace string   `header:"X-T" json:"trace"`
	Title string   `json:"title" maxLength:"4000"`
}

// TestConcurrentRequests proves that what is used again, such as buffers and encoders, is
// never shared: each request gets its own answer, and what a handler keeps stays.
func TestConcurrentRequests(t *testing.T) {
	t.Parallel()

	var (
		mu   sync.Mutex
		kept = map[int64]mixed{}
	)
	api := serve(func(r *rest.Routes) {
		rest.Post(r, "/{int:id}", func(_ context.Context, in mixed) (mixed, error) {
			mu.Lock()
			defer mu.Unlock()
			kept[in.ID] = in
			return in, nil
		})
		rest.List(r, "/", listNovels, page.Number(page.Size(1)), query.Filter[novelFilter](), query.Order("price"))
	}, rest.Auth(bearer()))

	want := func(n int) mixed {
		text := strings.Repeat(strconv.Itoa(n)+"é", 1+n%700)
		return mixed{ID: int64(n), Query: "q" + text, Tags: []string{text, "x"}, Trace: "t" + strconv.Itoa(n), Title: text}
	}
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 40 {
				n := worker*1000 + i
				in := want(n)
				a := resttest.Do[mixed](t, api, http.MethodPost, "/"+strconv.Itoa(n), resttest.Bearer("bob-key"),
					resttest.Header("X-T", in.Trace),
					resttest.Query("q", in.Query), resttest.Query("tag", in.Tags[0]), resttest.Query("tag", "x"),
					resttest.JSON(map[string]string{"title": in.Title}))
				wantDiff(t, "answer", in, a.Body)
				b := resttest.Do[numberPage](t, api, http.MethodGet, "/?ordering=price&page="+strconv.Itoa(1+n%5),
					resttest.Bearer("bob-key"))
				wantDiff(t, "page", []string{"3", "1", "5", "4", "2"}[n%5], ids(b.Body.Results))
				c := resttest.Do[any](t, api, http.MethodPost, "/"+strconv.Itoa(n), resttest.Bearer("wrong"))
				wantDiff(t, "refused", http.StatusUnauthorized, c.Status)
			}
		})
	}
	all.Wait()
	for n, in := range kept {
		wantDiff(t, "kept", want(int(n)), in)
	}
}
