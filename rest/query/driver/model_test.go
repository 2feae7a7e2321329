package driver_test

import (
	"database/sql"
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/query"
	"github.com/spoolhq/spool/rest/query/driver"
)

func TestSnake(t *testing.T) {
	t.Parallel()

	for name, want := range map[string]string{
		"ID": "id", "AuthorID": "author_id", "HTTPServer": "http_server", "Title": "title", "ISBN13": "isbn13",
		"Line2": "line2", "A": "a", "UserURLs": "user_ur_ls", "Straße": "straße",
	} {
		if got := driver.Snake(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

type moment struct{ time.Time }

type base struct {
	ID      int64
	Created time.Time
	Hidden  string
}

type address struct {
	City string
	Zip  sql.NullString
}

type status string

type everything struct {
	base
	*address

	Hidden   string // less deep than the one of base
	Status   status
	Small    uint8
	Ratio    *float32
	Blob     json.RawMessage
	Addr     netip.Addr
	Amount   big.Int
	Maybe    sql.Null[int64]
	When     moment
	Labels   []string
	Props    map[string]int
	Meta     struct{ A int } `bun:"type:jsonb"`
	Home     address         `bun:"embed:home_"`
	Skipped  string          `bun:"-"`
	Ignored  string          `gorm:"-:all"`
	Nullish  string          `bun:",nullzero"`
	Parent   *everything
	Children []*everything
	Owner    struct{ Name string }
}

func TestModel(t *testing.T) {
	t.Parallel()

	m := driver.ModelOf(reflect.TypeFor[*everything]())
	got := map[string]string{}
	for _, name := range m.Names() {
		if f := m.Field(name); f != nil {
			got[name] = f.Kind.String()
			if f.Nullable {
				got[name] += " or null"
			}
		} else if r := m.Relation(name); r != nil && r.Many {
			got[name] = "many " + r.Model().String()
		} else if r != nil {
			got[name] = "one " + r.Model().String()
		}
	}
	want := map[string]string{
		"id": "int", "created": "time", "city": "text or null", "zip": "text or null", "hidden": "text", "status": "text",
		"small": "int", "ratio": "float or null", "blob": "bytes or null", "addr": "custom or null",
		"amount": "custom or null", "maybe": "int or null", "when": "time or null", "labels": "opaque or null",
		"props": "opaque or null", "meta": "opaque or null", "home_city": "text", "home_zip": "text or null",
		"nullish": "text or null", "parent": "one driver_test.everything", "children": "many driver_test.everything",
		"owner": "one struct { Name string }",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if f := m.Field("hidden"); len(f.Index) != 1 {
		t.Errorf("hidden is the one at %v", f.Index)
	}
	if m.Relation("parent").Model() != m {
		t.Error("a relation to itself has another model")
	}
	if key := m.Key(); len(key) != 1 || key[0].Name != "id" {
		t.Errorf("the key is %v, want id", key)
	}
	if m := driver.ModelOf(reflect.TypeFor[string]()); len(m.Names()) != 0 || len(m.Key()) != 0 {
		t.Errorf("a string has the fields %v", m.Names())
	}
}

func TestModelKey(t *testing.T) {
	t.Parallel()

	type bunRow struct {
		A  int `bun:"a,pk"`
		B  int `bun:",pk"`
		ID int
	}
	type gormRow struct {
		Code string `gorm:"size:3;primary_key"`
		ID   int
	}
	type none struct {
		Id int //nolint:revive // only ID is a key
	}
	for _, test := range []struct {
		row  any
		want []string
	}{
		{bunRow{}, []string{"a", "b"}},
		{gormRow{}, []string{"code"}},
		{none{}, []string{}},
	} {
		got := []string{}
		for _, f := range driver.ModelOf(reflect.TypeOf(test.row)).Key() {
			got = append(got, f.Name)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%T: %s", test.row, diff)
		}
	}
}

func TestKindsInMemory(t *testing.T) {
	t.Parallel()

	addr := netip.MustParseAddr("10.0.0.1")
	rows := query.Slice([]everything{
		{
			base: base{ID: 1}, address: &address{City: "Paris"}, Small: 3, Ratio: new(float32(0.5)), Blob: json.RawMessage("1"),
			Addr: addr, Maybe: sql.Null[int64]{V: 7, Valid: true}, Amount: *big.NewInt(10), Status: "open",
			Home: address{City: "Rome", Zip: sql.NullString{String: "x", Valid: true}}, Nullish: "y", Labels: []string{},
			When: moment{time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)},
		},
		{base: base{ID: 2}, Addr: netip.MustParseAddr("10.0.0.200"), Amount: *big.NewInt(9)},
	})
	for _, test := range []struct {
		path  string
		value any
		want  int64
	}{
		{"city", "Paris", 1},
		{"city__isnull", true, 1},
		{"zip__isnull", true, 2},
		{"home_zip", "x", 1},
		{"home_city__ne", "Rome", 1},
		{"small__gte", uint64(3), 1},
		{"small__lt", uint64(1) << 63, 2},
		{"ratio", float32(0.5), 1},
		{"blob", []byte("1"), 1},
		{"blob__isnull", true, 1},
		{"addr", addr, 1},
		{"addr", "10.0.0.1", 1},
		{"addr__lt", netip.MustParseAddr("10.0.0.9"), 1},
		{"addr__in", []string{"10.0.0.1", "10.0.0.200"}, 2},
		{"maybe__range", [2]int{5, 8}, 1},
		{"maybe__isnull", true, 1},
		{"nullish__isnull", true, 1},
		{"nullish__ne", "z", 1},
		{"labels__isnull", true, 1},
		{"meta__isnull", false, 2},
		{"status", status("open"), 1},
		{"status__iexact", "OPEN", 1},
		{"when__year", 2024, 1},
		{"parent__isnull", true, 2},
		{"children__isnull", true, 2},
		{"owner__name", "", 2},
	} {
		n, err := rows.Where(query.Where(test.path, test.value)).Count(t.Context())
		if err != nil || n != test.want {
			t.Errorf("%s %v: counted %d (%v), want %d", test.path, test.value, n, err, test.want)
		}
	}
	first, _, err := rows.OrderBy("-addr").First(t.Context())
	if err != nil || first.ID != 2 {
		t.Errorf("the greatest address is of %d (%v), want 2", first.ID, err)
	}
}

func TestWrongValues(t *testing.T) {
	t.Parallel()

	rows := query.Slice([]everything{{}})
	for _, test := range []struct {
		path  string
		value any
		want  string
	}{
		{"small", "3", "a value is string, and is compared with int"},
		{"small", 1.5, "a value is float64"},
		{"small", nil, "use the lookup isnull"},
		{"ratio", 1 << 60, "compared with float"},
		{"city", 5, "compared with text"},
		{"city", "a\x00b", "NUL"},
		{"city", "\xff", "not UTF-8"},
		{"city__iexact", strings.Repeat("x", 1001), "more than 1000 characters"},
		{"created", "2024", "compared with time"},
		{"created", time.Date(12024, 1, 1, 0, 0, 0, 0, time.UTC), "years 1 to 9999"},
		{"created__date", "2024-02-30", "not a date"},
		{"created__year", "2024", "compared with int"},
		{"created__isnull", 1, "compared with bool"},
		{"addr", "nowhere", "a text is no netip.Addr"},
		{"addr", 5, "compared with netip.Addr"},
		{"blob", "x", "compared with []byte"},
		{"id__in", 5, "takes a list"},
		{"id__range", []int{1}, "takes two values, not 1"},
		{"id__in", []any{1, nil}, "use the lookup isnull"},
		{"labels", []string{}, "is not for labels"},
		{"children__id__x", 1, `"x" is no lookup`},
		{"meta__a", 1, "meta is a column"},
		{"owner", 1, "without a key of one field"},
		{"city__regex", "(", "missing closing"},
		{"", 1, `has no field ""`},
	} {
		_, err := rows.Where(query.Where(test.path, test.value)).Count(t.Context())
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s %v: got %v, want %s", test.path, test.value, err, test.want)
		}
	}
}
