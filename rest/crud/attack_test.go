package crud_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/crud"
	"github.com/spoolhq/spool/rest/page"
)

// spaced has marks with spaces between them, which are marks all the same.
type spaced struct {
	ID    int64  `json:"id"`
	OrgID int64  `crud:"parent, readonly" json:"orgId"`
	Owner string `crud:" readonly "       json:"owner"`
	Pin   string `crud:" writeonly"       json:"pin,omitempty"`
}

func TestAttackMarksWithSpaces(t *testing.T) {
	t.Parallel()

	store := crud.Memory[spaced, int64](crud.MemoryConfig{})
	books := crud.New(store, crud.Config[spaced]{
		Path: "/orgs/{int:org_id}/rows", Pagination: crud.Pagination{Klass: page.None},
	})
	c := serveController(t, &books)
	c.do("POST /orgs/1/rows", `{"owner":"eve","orgId":2,"pin":"1234"}`).status(http.StatusCreated).has(`"owner":""`).
		hasNot("1234")
	c.do("PUT /orgs/1/rows/1", `{"owner":"eve","orgId":2,"pin":"1234"}`).status(http.StatusOK).has(`"owner":""`).
		hasNot("1234")
	c.do("GET /orgs/1/rows", "").status(http.StatusOK).has(`"orgId":1`).hasNot("1234")
	if row, err := store.Get(t.Context(), 1); err != nil || row != (spaced{ID: 1, OrgID: 1, Pin: "1234"}) {
		t.Errorf("stored: %+v, %v", row, err)
	}
}

type member struct {
	ID       int64     `json:"id"`
	Password string    `crud:"writeonly"   json:"password,omitempty"`
	Friends  []*member `bun:"rel:has-many" json:"friends,omitempty"`
}

type withRelation struct {
	ID     int64   `json:"id"`
	UserID int64   `json:"userId"`
	User   *member `bun:"rel:belongs-to" json:"user,omitempty"`
}

type terms struct {
	Limit    int  `json:"limit"`
	Approved bool `json:"approved" readOnly:"true"`
}

type withColumn struct {
	ID    int64            `json:"id"`
	Terms map[string]terms `bun:"type:jsonb" json:"terms"`
}

type relationOut struct {
	ID int64 `json:"id"`
}

// What is only sent must not be shown through a relation, and what is only shown must not be
// written through a column of JSON. Neither can be kept, so it has to be said at the start.
func TestAttackMarksInsideOfFields(t *testing.T) {
	t.Parallel()

	relation := func(config crud.Config[withRelation]) func() {
		return func() { crud.New(crud.Memory[withRelation, int64](crud.MemoryConfig{}), config) }
	}
	column := func(config crud.Config[withColumn]) func() {
		return func() { crud.New(crud.Memory[withColumn, int64](crud.MemoryConfig{}), config) }
	}
	into := func(context.Context, relationOut, *withColumn) error { return nil }
	for name, test := range map[string]struct {
		build func()
		want  string
	}{
		"Shown": {relation(crud.Config[withRelation]{}), "field User: member.Password"},
		"OwnOutput": {
			relation(crud.Config[withRelation]{Out: crud.Output(func(r withRelation) relationOut { return relationOut{r.ID} })}),
			"",
		},
		"NeverShown": {relation(crud.Config[withRelation]{AllowedRoutes: []crud.Route{crud.Delete}}), ""},
		"Written":    {column(crud.Config[withColumn]{}), "field Terms: terms.Approved"},
		"Patched":    {column(crud.Config[withColumn]{Create: crud.Input(into)}), "field Terms: terms.Approved"},
		"OwnInputs":  {column(crud.Config[withColumn]{Create: crud.Input(into), Patch: crud.Input(into)}), ""},
		"NeverWriten": {
			column(crud.Config[withColumn]{AllowedRoutes: []crud.Route{crud.List, crud.FindOne, crud.Delete}}), "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			defer func() {
				text, _ := recover().(string)
				if (text == "") != (test.want == "") || !strings.Contains(text, test.want) {
					t.Errorf("got %q, want %q", text, test.want)
				}
			}()
			test.build()
		})
	}
}

// account has what a client would like to set.
type account struct {
	audit

	ID    int64  `json:"id"`
	Name  string `json:"name"`
	Role  string `json:"role"      readOnly:"true"`
	Owner string `crud:"readonly"  json:"owner"`
	Pin   string `crud:"writeonly" json:"pin,omitempty"`
	Hash  string `json:"-"`
	Age   *int   `json:"age"`
}

type audit struct {
	CreatedBy string `crud:"readonly" json:"createdBy"`
}

// Whatever the policy for unknown fields is, and however a key is written, nobody sets what
// is not theirs.
func TestAttackMassAssignment(t *testing.T) {
	t.Parallel()

	for name, unknown := range map[string]rest.UnknownFields{"Refuse": rest.RefuseFields, "Ignore": rest.IgnoreUnknown} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			was := account{Name: "eve", Role: "user", Owner: "eve", Pin: "s3cret", Hash: "s3cret", audit: audit{"root"}}
			store := crud.Memory[account, int64](crud.MemoryConfig{})
			if err := store.Insert(t.Context(), &was); err != nil {
				t.Fatal(err)
			}
			books := crud.New(store, crud.Config[account]{})
			api := rest.New(rest.Unknown(unknown))
			api.Register(&books, rest.Prefix("/accounts"))
			c := &client{t: t, api: api}
			for _, evil := range []string{
				`"id":7,"role":"evil","owner":"evil","createdBy":"evil"`, `"ID":7`, `"ROLE":"evil"`, `"Owner":"evil"`,
				`"\u006fwner":"evil"`, `"OWNER":"evil","owner":"eve"`, `"owner":"eve","owner":"evil"`, `"Hash":"evil"`,
				`"hash":"evil"`, `"-":"evil"`, `"CreatedBy":"evil"`, `"audit":{"createdBy":"evil"}`, `"Audit":{"CreatedBy":"evil"}`,
				`"owner":null`, `"ro\u017fe":"evil"`, `"createdB\u212a":"evil"`,
			} {
				c.do("PUT /accounts/1", `{"name":"eve","age":null,`+evil+`}`).hasNot("evil")
				c.do("PATCH /accounts/1", `{`+evil+`}`).hasNot("evil")
				if a := c.do("POST /accounts", `{"name":"eve","age":null,`+evil+`}`); a.Code == http.StatusCreated {
					a.hasNot("evil")
				}
			}
			if got, err := store.Get(t.Context(), 1); err != nil || got != was {
				t.Errorf("got %+v (%v), want %+v", got, err, was)
			}
			all, err := store.Set(t.Context()).All(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range all[1:] {
				if row.Role+row.Owner+row.CreatedBy+row.Hash != "" {
					t.Errorf("created %+v", row)
				}
			}
			c.do("PATCH /accounts/1", `{"name":null}`).status(http.StatusUnprocessableEntity)
			c.do("GET /accounts", "").hasNot("s3cret")
		})
	}
}

type secretive struct {
	ID   int64   `json:"id"`
	Name string  `json:"name"`
	Note *string `json:"note"`
	Pin  string  `crud:"writeonly" json:"pin,omitempty"`
	Flag bool    `json:"-"`
}

// An ETag must not be a way to try values of what is never shown.
func TestAttackETagOfHiddenColumns(t *testing.T) {
	t.Parallel()

	tag := func(row secretive) string {
		store := crud.Memory[secretive, int64](crud.MemoryConfig{})
		if err := store.Insert(t.Context(), &row); err != nil {
			t.Fatal(err)
		}
		rows := crud.New(store, crud.Config[secretive]{Versions: crud.VersionHash})
		return serveController(t, &rows).do("GET /1", "").status(http.StatusOK).Header().Get("ETag")
	}
	plain := tag(secretive{Name: "a"})
	if got := tag(secretive{Name: "a", Pin: "1234", Flag: true}); got != plain || plain == "" {
		t.Errorf("the tag %s tells of hidden columns: %s without them", got, plain)
	}
	if got := tag(secretive{Name: "b"}); got == plain {
		t.Error("the tag says nothing of shown columns")
	}
}

// Databases take no NUL in texts: it would end as their error.
func TestAttackNULInTexts(t *testing.T) {
	t.Parallel()

	store := crud.Memory[secretive, int64](crud.MemoryConfig{})
	if err := store.Insert(t.Context(), &secretive{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	rows := crud.New(store, crud.Config[secretive]{})
	c := serveController(t, &rows)
	for _, fields := range []string{
		`"name":"\u0000","note":null,"pin":""`, `"name":"a","note":"b\u0000","pin":""`,
		`"name":"a","note":null,"pin":"\u0000"`,
	} {
		for _, line := range []string{"POST /", "PUT /1", "PATCH /1"} {
			c.do(line, "{"+fields+"}").status(http.StatusUnprocessableEntity).has("string_nul")
		}
	}
	c.do("PATCH /1", `{"name":"\\u0000"}`).status(http.StatusOK)
}

// stateError is an error of a PostgreSQL driver.
type stateError string

func (s stateError) Error() string    { return "s3cret value (SQLSTATE " + string(s) + ")" }
func (s stateError) SQLState() string { return string(s) }

// A value that a column cannot hold is the client's mistake, and what the database says of it
// is not the client's business.
func TestAttackValuesThatNoColumnHolds(t *testing.T) {
	t.Parallel()

	for _, state := range []string{"22001", "22003", "22021", "22P05"} {
		table := refusing[secretive]{crud.Memory[secretive, int64](crud.MemoryConfig{}), stateError(state)}
		rows := crud.New(crud.FromTable(table, crud.Columns{}), crud.Config[secretive]{})
		serveController(t, &rows).do("POST /",
			`{"name":"a","note":null,"pin":""}`).status(http.StatusUnprocessableEntity).hasNot("s3cret")
	}
}
