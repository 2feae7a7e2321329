package body_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/fault"
	"github.com/spoolhq/spool/rest/internal/schema"
)

type line struct {
	SKU      string   `json:"sku"             pattern:"^[A-Z]{2}-[0-9]+$"`
	Quantity int      `json:"quantity"        maximum:"1000"              minimum:"1"`
	Gift     bool     `json:"gift,omitempty"`
	Notes    []string `json:"notes,omitempty" maxItems:"3"                maxLength:"5"`
}

type address struct {
	Street  string  `json:"street"        minLength:"1"`
	Country string  `enum:"DE,FR,US"      json:"country"`
	Zip     *string `json:"zip,omitempty" maxLength:"10"`
}

type common struct {
	Version uint8 `json:"version,omitempty"`
}

type order struct {
	common

	Name     string            `json:"name"               maxLength:"20"         minLength:"2"`
	Email    string            `format:"email"            json:"email,omitempty"`
	Price    float64           `exclusiveMinimum:"0"      json:"price"           multipleOf:"0.01"`
	Ratio    float32           `json:"ratio,omitempty"`
	Small    int8              `json:"small,omitempty"`
	Level    int               `enum:"1,2,3"              json:"level,omitempty"`
	Active   *bool             `json:"active,omitempty"`
	Tags     []string          `json:"tags"               maxItems:"4"           minLength:"1"     uniqueItems:"true"`
	Scores   []float64         `json:"scores,omitempty"   uniqueItems:"true"`
	Address  address           `json:"address"`
	Lines    []line            `json:"lines,omitempty"    minItems:"1"`
	Labels   map[string]string `json:"labels,omitempty"`
	Counts   map[int8]int      `json:"counts,omitempty"`
	Due      time.Time         `json:"due,omitzero"`
	Blob     []byte            `json:"blob,omitempty"`
	Anything any               `json:"anything,omitempty"`
	Raw      json.RawMessage   `json:"raw,omitempty"`
	Parent   *order            `json:"parent,omitempty"`
}

const goodOrder = `{"name":"Ada","email":"a@b.org","price":12.5,"ratio":0.5,"small":-128,"level":2,` +
	`"active":null,"tags":["x","y"],"scores":[1,2.5],"address":{"street":"Main","country":"DE","zip":"10115"},` +
	`"lines":[{"sku":"AB-1","quantity":1,"gift":true,"notes":["a\u00e9"]},{"sku":"CD-22","quantity":1000}],` +
	`"labels":{"k":"v"},"counts":{"-5":1,"7":2},"due":"2026-01-02T03:04:05Z","blob":"AQID","version":255,` +
	`"anything":{"a":[1,"2",null]},"raw":{"z":1},"parent":{"name":"Bo","price":1,"tags":[],"address":{"street":"S","country":"FR"}}}`

// oracle reads documents as huma does: as a value of no type that is validated, and then
// once more into the type.
type oracle struct {
	registry *schema.Registry
	schema   *huma.Schema
	plan     *body.Plan
}

func newOracle(tb testing.TB) oracle {
	tb.Helper()

	registry := schema.New()
	plain, err := registry.Body(reflect.TypeFor[order](), "", false)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := body.Compile(reflect.TypeFor[order](), plain, body.Options{})
	if err != nil {
		tb.Fatal(err)
	}

	return oracle{registry: registry, schema: registry.Of(reflect.TypeFor[order](), ""), plan: plan}
}

func (o oracle) refuses(data []byte) bool {
	var value any
	if json.Unmarshal(data, &value) != nil {
		// Numbers beyond float64 are good where their text is kept.
		numbers := json.NewDecoder(bytes.NewReader(data))
		numbers.UseNumber()
		if numbers.Decode(&value) != nil || !json.Valid(data) {
			return true
		}
	}
	var result huma.ValidateResult
	huma.Validate(o.registry, o.schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &result)

	return len(result.Errors) > 0 || json.Unmarshal(data, new(order)) != nil
}

// own are the kinds of faults that only we find.
func own(f fault.Fault) bool {
	return f.Kind == fault.KindDuplicateKey || f.Kind == fault.KindKeyCase || f.Kind == fault.KindDepth ||
		f.Kind == fault.KindNUL || f.Kind == fault.KindUnicode
}

var decimals = regexp.MustCompile(`"(\\.|[^"\\])*"|-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?`)

// zeroFirst are no numbers, although big.Rat takes them.
var zeroFirst = regexp.MustCompile(`^-?0[0-9]`)

// plainly writes the whole numbers of a document without point and exponent, which are the
// only ones that encoding/json takes for integers.
func plainly(data []byte) []byte {
	return decimals.ReplaceAllFunc(data, func(text []byte) []byte {
		number, ok := new(big.Rat).SetString(string(text))
		if text[0] == '"' || !bytes.ContainsAny(text, ".eE") || zeroFirst.Match(text) || len(text) > 100 || !ok ||
			!number.IsInt() || len(number.Num().String()) > 100 {
			return text
		}

		return []byte(number.Num().String())
	})
}

// compare reads data in both ways, and returns whether it was good.
func (o oracle) compare(tb testing.TB, data []byte) bool {
	tb.Helper()

	sent := bytes.Clone(data)
	var got order
	_, faults := o.plan.Decode(data, &got)
	if !bytes.Equal(sent, data) {
		tb.Fatalf("the document was written to: %q became %q", sent, data)
	}
	plain := plainly(data)
	refused := o.refuses(plain)

	if len(faults) == 0 {
		if refused {
			tb.Fatalf("let through: %s", data)
		}
		var want order
		if err := json.Unmarshal(plain, &want); err != nil {
			tb.Fatal(err)
		}
		for a, b := &got, &want; a != nil && b != nil && !bytes.Equal(plain, data); a, b = a.Parent, b.Parent {
			a.Raw, b.Raw = nil, nil // it keeps its text
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(order{}, common{})); diff != "" {
			tb.Fatalf("%s was read differently:\n%s", data, diff)
		}

		return true
	}

	strict := false
	for _, f := range faults {
		strict = strict || own(f)
		if f.Kind == "" || f.Message == "" || f.In != fault.Body {
			tb.Fatalf("incomplete fault %+v", f)
		}
	}
	if !refused && !strict {
		tb.Fatalf("refused although good: %s: %v", data, faults)
	}

	return false
}

// mutate changes a document in one of the ways in which clients and attackers do.
func mutate(r *rand.Rand, text string) string {
	values := []string{
		`null`, `true`, `false`, `0`, `-0`, `-1`, `1`, `1.0`, `1e2`, `1.5`, `1000`, `1001`, `127`, `128`, `-129`, `255`,
		`256`, `1e400`, `3.5e38`, `9223372036854775808`, `18446744073709551616`, `""`, `"a"`, `"DE"`, `"\u0044E"`, `"\ud800"`,
		`"abcdefghijklmnopqrstuvwxyz"`, `"2026-01-02T03:04:05Z"`, `"2026-02-30T03:04:05Z"`, `"AQ=="`, `"AQ"`, `[]`, `{}`,
		`[1,1]`, `[1,1.0]`, `["a","a"]`, `["a","\u0061"]`, `{"a":1}`, `{"a":1,"a":2}`, `{"street":"x","country":"DE"}`,
		`[[]]`, `01`, `+1`, `.5`, `nul`, `"`, "\"\x01\"", "\"\xff\"", `"\x"`,
	}

	marks := func(want string) []int {
		var at []int
		for i := range len(text) {
			if strings.IndexByte(want, text[i]) >= 0 {
				at = append(at, i)
			}
		}

		return at
	}
	pick := func(at []int) int {
		if len(at) == 0 {
			return 0
		}

		return at[r.IntN(len(at))]
	}
	// span is the value or member that begins after one mark and ends before the next.
	span := func() (int, int) {
		start := pick(marks(":,["))
		end := start + 1 + strings.IndexAny(text[start+1:]+",", ",]}")

		return start + 1, end
	}

	switch r.IntN(9) {
	case 0, 1, 2: // another value
		start, end := span()
		return text[:start] + values[r.IntN(len(values))] + text[end:]
	case 3: // dropped
		start, end := span()
		return text[:start] + text[end:]
	case 4: // another case
		i := pick(marks("abcdefghijklmnopqrstuvwxyzABCDE"))
		return text[:i] + string(text[i]^0x20) + text[i+1:]
	case 5: // another byte
		i := r.IntN(len(text))
		return text[:i] + string([]byte{byte(r.IntN(256))}) + text[i+1:]
	case 6: // twice
		start, end := span()
		return text[:start] + text[start:end] + "," + text[start:end] + text[end:]
	case 7: // a member more
		i := pick(marks("{"))
		keys := []string{"name", "NAME", "\\u006eame", "zip", "x", "ſmall", "quantity", "Quantity"}

		return text[:i+1] + strconv.Quote(keys[r.IntN(len(keys))]) + ":" + values[r.IntN(len(values))] + "," + text[i+1:]
	default: // white space
		i := pick(marks(",:{}[]"))
		return text[:i] + "\n " + text[i:]
	}
}

// TestOracle changes a good document over and over, and reads what comes out of it in our
// way and in huma's.
func TestOracle(t *testing.T) {
	t.Parallel()

	o := newOracle(t)
	if !o.compare(t, []byte(goodOrder)) {
		var got order
		_, faults := o.plan.Decode([]byte(goodOrder), &got)
		t.Fatalf("the good order is refused: %v", faults)
	}

	r := rand.New(rand.NewPCG(1, 2))
	good, rounds := 0, 30000
	if testing.Short() || raced { // test/go.sh runs all of them without the detector
		rounds = 3000
	}
	for range rounds {
		text := goodOrder
		for range 1 + r.IntN(3) {
			text = mutate(r, text)
		}
		if o.compare(t, []byte(text)) {
			good++
		}
	}
	if good < rounds/50 || good > rounds*9/10 {
		t.Errorf("%d of %d documents were good: the changes test nothing", good, rounds)
	}
}

func FuzzOracle(f *testing.F) {
	o := newOracle(f)
	f.Add([]byte(goodOrder))
	f.Add(
		[]byte(`{"name":"Ada","NAME":"x","price":1e2,"tags":["a","\u0061"],"address":{"street":"\ud83d\ude00","country":"DE"}}`),
	)
	f.Add([]byte(`[{"a":-0.0e-1}]`))
	f.Add([]byte(`null`))

	f.Fuzz(func(t *testing.T, data []byte) { o.compare(t, data) })
}
