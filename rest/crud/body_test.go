package crud_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/crud"
)

func TestCreateIsChecked(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct{ body, pointer string }{
		"Missing":       {`{"slug":"s","price":1,"authorId":1}`, "/title"},
		"TooShort":      {`{"title":"D","slug":"s","price":1,"authorId":1}`, "/title"},
		"BelowMinimum":  {`{"title":"Dune","slug":"s","price":-1,"authorId":1}`, "/price"},
		"Null":          {`{"title":null,"slug":"s","price":1,"authorId":1}`, "/title"},
		"Unknown":       {`{"title":"Dune","slug":"s","price":1,"authorId":1,"colour":"red"}`, "/colour"},
		"Relation":      {`{"title":"Dune","slug":"s","price":1,"authorId":1,"author":{"id":1,"name":"x"}}`, "/author"},
		"WrongCase":     {`{"title":"Dune","slug":"s","price":1,"authorId":1,"STOCK":3}`, "/STOCK"},
		"Twice":         {`{"title":"Dune","slug":"s","price":1,"price":-1,"authorId":1}`, "/price"},
		"DoesNotFit":    {`{"title":"Dune","slug":"s","price":1,"authorId":1,"stock":2147483648}`, "/stock"},
		"ListOfNumbers": {`{"title":"Dune","slug":"s","price":1,"authorId":1,"tags":[1]}`, "/tags/0"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := serve(t, storeOf(), crud.Config[Book]{})
			c.do("POST /books", test.body).status(422).has(`"` + test.pointer + `"`)
			c.do("GET /books", "").status(200).has(`"count":0`)
		})
	}
}

func TestCreateIgnoresWhatIsReadOnly(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(), crud.Config[Book]{})
	got := c.do("POST /books",
		`{"id":77,"owner":"me","version":9,"title":"Dune","slug":"dune","price":0,"stock":0,"authorId":1}`).
		status(201).object()
	for name, want := range map[string]any{"id": 1.0, "owner": "", "version": 1.0, "price": 0.0, "stock": 0.0} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
}

func TestWriteOnly(t *testing.T) {
	t.Parallel()

	store := storeOf()
	c := serve(t, store, crud.Config[Book]{})
	body := strings.Replace(dune, "{", `{"secret":"s3cr3t",`, 1)
	c.do("POST /books", body).status(201).hasNot("s3cr3t")
	c.do("GET /books/1", "").status(200).hasNot("secret")
	c.do("GET /books", "").status(200).has("Dune").hasNot("secret")
	c.do("PATCH /books/1", `{"secret":"other"}`).status(200).hasNot("other")
	if row := stored(t, store); row.Secret != "other" {
		t.Errorf("the secret is %q", row.Secret)
	}
	c.do("PUT /books/1", strings.Replace(dune, "{", `{"secret":"put",`, 1)).status(200).hasNot("put")
	if row := stored(t, store); row.Secret != "put" {
		t.Errorf("a PUT with it has left the secret %q", row.Secret)
	}
	// It was never shown, so a client cannot send it back.
	c.do("PUT /books/1", dune).status(200)
	if row := stored(t, store); row.Secret != "put" {
		t.Errorf("after a PUT without it, the secret is %q", row.Secret)
	}
}

// stored returns the first row.
func stored(t *testing.T, store crud.Store[Book, int64]) Book {
	t.Helper()
	row, err := store.Get(context.Background(), 1)
	if err != nil {
		t.Fatal(err)
	}
	return row
}

// full is a row with something in each field.
func full() Book {
	note := "a note"
	return Book{
		Title: "Dune", Slug: "dune", Price: 9.5, Stock: 3, Note: &note, Tags: []string{"a", "b"}, AuthorID: 1,
		Owner: "ann", Hidden: "inside", Secret: "s", Version: 4,
	}
}

// The reference's PUT was a PATCH.
func TestDefect10PutReplaces(t *testing.T) {
	t.Parallel()

	store := storeOf(full())
	c := serve(t, store, crud.Config[Book]{})
	c.do("PUT /books/1", `{"title":"Dune","slug":"dune","price":9.5,"authorId":1}`).status(200)
	want := full()
	want.ID, want.Version = 1, 5
	want.Note, want.Tags, want.Stock = nil, nil, 7
	if diff := cmp.Diff(want, stored(t, store)); diff != "" {
		t.Errorf("row (-want +got):\n%s", diff)
	}
	c.do("PUT /books/1", `{"title":"Dune","slug":"dune","price":9.5}`).status(422).has("/authorId")
	c.do("PUT /books/1", `{"id":9,"owner":"me","title":"Dune","slug":"dune","price":9.5,"authorId":1}`).status(200).
		has(`"id":1`).has(`"owner":"ann"`)
}

func TestPatchMerges(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		body   string
		status int
		change func(*Book)
	}{
		"One":        {`{"price":1}`, 200, func(b *Book) { b.Price = 1 }},
		"Zero":       {`{"price":0,"stock":0}`, 200, func(b *Book) { b.Price, b.Stock = 0, 0 }},
		"Null":       {`{"note":null}`, 200, func(b *Book) { b.Note = nil }},
		"List":       {`{"tags":["c"]}`, 200, func(b *Book) { b.Tags = []string{"c"} }},
		"ReadOnly":   {`{"id":5,"owner":"me","version":9,"price":1}`, 200, func(b *Book) { b.Price = 1 }},
		"Nothing":    {`{}`, 200, nil},
		"Same":       {`{"price":9.5}`, 200, nil},
		"NotNull":    {`{"title":null}`, 422, nil},
		"NotNullInt": {`{"price":2,"stock":null}`, 422, nil},
		"Limit":      {`{"title":"D"}`, 422, nil},
		"Minimum":    {`{"price":-1}`, 422, nil},
		"Unknown":    {`{"colour":"red"}`, 422, nil},
		"Overflow":   {`{"stock":99999999999}`, 422, nil},
		"NoObject":   {`[1]`, 422, nil},
		"NoJSON":     {`{"price":`, 400, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			store := storeOf(full())
			c := serve(t, store, crud.Config[Book]{})
			c.do("PATCH /books/1", test.body).status(test.status)
			want := full()
			want.ID = 1
			if test.change != nil {
				test.change(&want)
				want.Version++
			}
			if diff := cmp.Diff(want, stored(t, store)); diff != "" {
				t.Errorf("row (-want +got):\n%s", diff)
			}
		})
	}
}

// What is merged is a copy: a row that somebody has read does not change.
func TestPatchLeavesOldRowsAlone(t *testing.T) {
	t.Parallel()

	store := storeOf(full())
	before := stored(t, store)
	c := serve(t, store, crud.Config[Book]{})
	c.do("PATCH /books/1", `{"note":"other","tags":["x","y"]}`).status(200)
	if *before.Note != "a note" || before.Tags[0] != "a" {
		t.Errorf("the row that was read before is %q and %v now", *before.Note, before.Tags)
	}
}

// Foreign keys had one name in inputs and another in answers, and a wrong one was a 500.
func TestDefect9ForeignKeys(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(), crud.Config[Book]{})
	c.do("POST /books", dune).status(201).has(`"authorId":1`)
	c.do("PUT /books/1", `{"title":"Dune","slug":"dune","price":9.5,"authorId":2}`).status(200).has(`"authorId":2`)
	c.do("PATCH /books/1", `{"authorId":1}`).status(200).has(`"authorId":1`)
	c.do("PATCH /books/1", `{"author":1}`).status(422)
	for line, body := range map[string]string{
		"POST /books":    `{"title":"Dune","slug":"other","price":9.5,"authorId":99}`,
		"PUT /books/1":   `{"title":"Dune","slug":"dune","price":9.5,"authorId":99}`,
		"PATCH /books/1": `{"authorId":99}`,
	} {
		c.do(line, body).status(422).has("/authorId").hasNot("constraint")
	}
	c.do("GET /books/1", "").status(200).has(`"authorId":1`)
}

func TestUniqueIsAConflict(t *testing.T) {
	t.Parallel()

	c := serve(t, storeOf(Book{Slug: "a", AuthorID: 1}, Book{Slug: "b", AuthorID: 1}), crud.Config[Book]{})
	c.do("POST /books", `{"title":"Dune","slug":"a","price":9.5,"authorId":1}`).status(409).
		has("There is a Book with this slug already.").has("not_unique")
	c.do("PATCH /books/2", `{"slug":"a"}`).status(409)
	c.do("PATCH /books/2", `{"slug":"b"}`).status(200)
}

type bookIn struct {
	Name string `json:"name" maxLength:"10"`
}

type bookOut struct {
	Number int64  `json:"number"`
	Name   string `json:"name"`
}

func TestOwnDocuments(t *testing.T) {
	t.Parallel()

	store := storeOf()
	c := serve(t, store, crud.Config[Book]{
		Create: crud.Input(func(_ context.Context, in bookIn, row *Book) error {
			row.Title, row.AuthorID = in.Name, 1
			row.Stock++
			return nil
		}),
		Out: crud.Output(func(b Book) bookOut { return bookOut{b.ID, b.Title} }),
	})
	want := map[string]any{"number": 1.0, "name": "Dune"}
	if diff := cmp.Diff(want, c.do("POST /books", `{"name":"Dune"}`).status(201).object()); diff != "" {
		t.Errorf("create (-want +got):\n%s", diff)
	}
	c.do("POST /books", `{"name":"A title that is too long"}`).status(422)
	c.do("GET /books", "").status(200).has(`"results":[{"number":1,"name":"Dune"}]`[10:])

	// Without a type of its own, an update has that of create, and works on the row.
	c.do("PUT /books/1", `{"name":"Other"}`).status(200).has("Other")
	if row := stored(t, store); row.Stock != 2 {
		t.Errorf("the stock is %d, want 2", row.Stock)
	}
	c.do("PATCH /books/1", `{"title":"Third"}`).status(200).has(`"name":"Third"`)
}

// Country has a key that the client chooses.
type Country struct {
	ID   string `crud:"given" json:"code" maxLength:"2"`
	Name string `json:"name"`
}

type Countries struct {
	crud.Controller[Country, string]
}

func TestGivenKey(t *testing.T) {
	t.Parallel()

	store := crud.Memory[Country, string](crud.MemoryConfig{})
	c := serveController(t, &Countries{crud.New(store, crud.Config[Country]{Path: "/countries"})})
	if got := c.do(
		"POST /countries", `{"code":"NL","name":"x"}`,
	).status(201).Header().Get("Location"); got != "/countries/NL" {
		t.Errorf("Location %q", got)
	}
	c.do("POST /countries", `{"code":"NL","name":"x"}`).status(409)
	c.do("POST /countries", `{"name":"x"}`).status(422)
	c.do("PUT /countries/NL", `{"code":"BE","name":"y"}`).status(200).has(`"code":"NL"`).has(`"name":"y"`)
	c.do("PATCH /countries/NL", `{"code":"BE","name":"z"}`).status(200).has(`"code":"NL"`).has(`"name":"z"`)
}
