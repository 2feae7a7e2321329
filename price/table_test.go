package price_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/price"
)

const table = `{"version": "1", "currency": "USD", "asOf": "2026-11-01",
	"models": {"a": {"input": 0.15, "cacheRead": 0.0375, "output": 12}, "free": {"input": 0, "output": 0.0}}}`

func TestParse(t *testing.T) {
	t.Parallel()

	want := price.Table{Version: "1", Currency: "USD", AsOf: "2026-11-01", Models: map[string]price.Rates{
		"a":    {Input: 150_000, CacheRead: rate(37_500), Output: 12_000_000},
		"free": {},
	}}
	got, err := price.Parse([]byte(table))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()

	with := func(before, after string) string { return strings.Replace(table, before, after, 1) }
	for _, c := range []struct{ name, text, want string }{
		{"NoJSON", "prices", "read the price table"},
		{"NoVersion", with(`"version": "1", `, ""), "version is required"},
		{"NoCurrency", with(`"currency": "USD", `, ""), "currency must be"},
		{"BadCurrency", with(`USD`, "dollars"), "currency must be"},
		{"BadDay", with(`2026-11-01`, "soon"), "asOf must be a day"},
		{"NoModels", `{"version": "1", "currency": "USD"}`, "models has no model"},
		{"UnknownWord", with(`"version"`, `"price": 1, "version"`), "price"},
		{"UnknownRate", with(`"cacheRead"`, `"cached"`), "models.a: "},
		{"NoOutput", with(`, "output": 12`, ""), "models.a: input and output are required"},
		{"Negative", with("0.15", "-0.15"), "models.a: the rate -0.15 is negative"},
		{"TooManyDecimals", with("0.15", "0.1500001"), "models.a: the rate 0.1500001 has more than six decimals"},
		{"TooLarge", with("0.15", "1000001"), "models.a: the rate 1000001 is above a million"},
		{"Exponent", with("0.15", "1e999999999"), "models.a: 1e999999999 is not a rate"},
		{"Text", with("0.15", `"much"`), "is not a rate"},
		{"Null", with("0.15", `null`), "models.a: input and output are required"},
		{"TwoTables", table + table, "more behind the table"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			_, err := price.Parse([]byte(c.text))
			if spool.CodeOf(err) != spool.Invalid || !strings.Contains(spool.MessageOf(err), c.want) {
				t.Errorf("%v, want an invalid error with %q", err, c.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "prices.json")
	if _, err := price.Load(file); spool.CodeOf(err) != spool.Invalid {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(file, []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := price.Load(file)
	if err != nil || got.Version != "1" {
		t.Errorf("%+v, %v", got, err)
	}
	if err := os.WriteFile(file, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := price.Load(file); !strings.Contains(spool.MessageOf(err), "prices.json: version is required") {
		t.Errorf("a wrong file: %v", err)
	}
}

func TestTableIsWrittenAsItIsRead(t *testing.T) {
	t.Parallel()

	for name, rates := range price.Builtin().Models {
		text, err := json.Marshal(rates)
		if err != nil {
			t.Fatal(err)
		}
		var again price.Rates
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rates, again); diff != "" {
			t.Errorf("%s as %s (-want +got):\n%s", name, text, diff)
		}
	}
}

func TestBuiltin(t *testing.T) {
	t.Parallel()

	b := price.Builtin()
	if b.Models["gpt-4o-mini"].Input != 150_000 || b.AsOf == "" || b.Check() != nil {
		t.Errorf("%+v", b)
	}
}
