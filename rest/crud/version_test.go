package crud_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/spoolhq/spool/rest/crud"
)

func TestIfMatch(t *testing.T) {
	t.Parallel()

	for name, versions := range map[string]crud.Versions{"Field": crud.VersionField, "Hash": crud.VersionHash} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := serve(t, storeOf(full()), crud.Config[Book]{Versions: versions})
			first := c.do("GET /books/1", "").status(200).Header().Get("ETag")
			if first == "" {
				t.Fatal("there is no ETag")
			}
			second := c.with("If-Match", first).do("PATCH /books/1", `{"price":1}`).status(200).Header().Get("ETag")
			if second == first || second == "" {
				t.Errorf("the ETag was %s and is %s", first, second)
			}
			if got := c.do("GET /books/1", "").status(200).Header().Get("ETag"); got != second {
				t.Errorf("the ETag of the answer is %s, and later %s", second, got)
			}
			for line, body := range map[string]string{
				"PATCH /books/1": `{"price":2}`, "PUT /books/1": dune, "DELETE /books/1": "",
			} {
				refused := c.with("If-Match", first).do(line, body).status(412)
				if got := refused.Header().Get("ETag"); got != second {
					t.Errorf("%s: the ETag of the refusal is %s, want %s", line, got, second)
				}
				c.with("If-Match", `W/`+second).do(line, body).status(412)
			}
			c.do("GET /books/1", "").status(200).has(`"price":1`)
			c.with("If-Match", `"other", `+second).do("PUT /books/1", dune).status(200)
			c.with("If-Match", "*").do("DELETE /books/1", "").status(204)
			c.with("If-Match", "*").do("DELETE /books/1", "").status(404)
		})
	}
}

func TestIfNoneMatch(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(full()), crud.Config[Book]{})
	tag := c.do("GET /books/1", "").status(200).Header().Get("ETag")
	for _, given := range []string{tag, "W/" + tag, `"x", ` + tag, "*"} {
		not := c.with("If-None-Match", given).do("GET /books/1", "").status(304)
		if not.Body.Len() > 0 || not.Header().Get("ETag") != tag {
			t.Errorf("%s: the body has %d bytes, the ETag is %s", given, not.Body.Len(), not.Header().Get("ETag"))
		}
	}
	c.with("If-None-Match", `"x"`).do("GET /books/1", "").status(200)
	c.do("PATCH /books/1", `{"price":1}`).status(200)
	c.with("If-None-Match", tag).do("GET /books/1", "").status(200)
}

func TestRequireMatch(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(full()), crud.Config[Book]{RequireMatch: true})
	for line, body := range map[string]string{
		"PATCH /books/1": `{"price":2}`, "PUT /books/1": dune, "DELETE /books/1": "",
	} {
		c.do(line, body).status(428)
	}
	c.with("If-Match", `"4"`).do("PATCH /books/1", `{"price":2}`).status(200)
}

// A client that names a version does not get to write without one being compared.
func TestNoVersionsMatchNothing(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(full()), crud.Config[Book]{Versions: crud.NoVersions})
	if tag := c.do("GET /books/1", "").status(200).Header().Get("ETag"); tag != "" {
		t.Errorf("the ETag is %s", tag)
	}
	c.with("If-Match", `"4"`).do("PATCH /books/1", `{"price":2}`).status(412)
	c.with("If-Match", "*").do("PATCH /books/1", `{"price":2}`).status(200)
}

// Everybody has read the same version and writes: exactly one wins.
func TestConcurrentPatches(t *testing.T) {
	t.Parallel()

	const writers = 16
	store := storeOf(full())
	c := serve(t, store, crud.Config[Book]{})
	codes := make([]int, writers)
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			codes[i] = c.with("If-Match", `"4"`).do("PATCH /books/1", `{"price":`+strconv.Itoa(i+1)+`}`).Code
		})
	}
	wg.Wait()
	winner := -1
	for i, code := range codes {
		switch {
		case code == 200 && winner < 0:
			winner = i
		case code == 200:
			t.Error("two patches of one version have won")
		case code != 412:
			t.Errorf("a patch was answered %d", code)
		}
	}
	if row := stored(t, store); row.Price != float64(winner+1) || row.Version != 5 {
		t.Errorf("patch %d has won, but the price is %v of version %d", winner, row.Price, row.Version)
	}
}

// Page is versioned by the time of its last change.
type Page struct {
	ID      int64     `json:"id"`
	Text    string    `json:"text"`
	Changed time.Time `crud:"version" json:"changed"`
}

type Pages struct{ crud.Controller[Page, int64] }

func TestTimesAsVersions(t *testing.T) {
	t.Parallel()

	store := crud.Memory[Page, int64](crud.MemoryConfig{})
	ahead := time.Date(2400, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := store.Insert(context.Background(), &Page{Changed: ahead}); err != nil {
		t.Fatal(err)
	}
	c := serveController(t, &Pages{crud.New(store, crud.Config[Page]{Path: "/pages"})})
	tag := c.do("GET /pages/1", "").status(200).Header().Get("ETag")
	next := c.with("If-Match", tag).do("PATCH /pages/1", `{"text":"a"}`).status(200)
	c.with("If-Match", tag).do("PATCH /pages/1", `{"text":"b"}`).status(412)
	row, err := store.Get(context.Background(), 1)
	if err != nil || !row.Changed.After(ahead) {
		t.Errorf("a later version is at %v (error %v), the one before at %v", row.Changed, err, ahead)
	}
	c.with("If-Match", next.Header().Get("ETag")).do("PUT /pages/1", `{"text":"c"}`).status(200)
	c.do("POST /pages", `{"text":"d"}`).status(201).hasNot("0001-01-01")
}

// Visit has a time that may be null.
type Visit struct {
	ID int64      `json:"id"`
	At *time.Time `json:"at"`
}

type Visits struct{ crud.Controller[Visit, int64] }

// The hash of a time is that of its instant, because databases return times in their own zone.
func TestHashOfNullableTimes(t *testing.T) {
	t.Parallel()

	c := serveController(t, &Visits{crud.New(crud.Memory[Visit, int64](crud.MemoryConfig{}), crud.Config[Visit]{
		Path: "/visits", Versions: crud.VersionHash,
	})})
	tag := c.do("POST /visits", `{"at":"2026-01-02T03:04:05+02:00"}`).status(201).Header().Get("ETag")
	if got := c.with("If-Match", tag).do(
		"PUT /visits/1", `{"at":"2026-01-02T01:04:05Z"}`,
	).status(200).Header().Get("ETag"); got != tag {
		t.Errorf("the ETag of the same time in another zone is %s, want %s", got, tag)
	}
	if got := c.with("If-Match", tag).do("PATCH /visits/1", `{"at":null}`).status(200).Header().Get("ETag"); got == tag ||
		got == "" {
		t.Errorf("the ETag of null is %s, and that of a time %s", got, tag)
	}
}
