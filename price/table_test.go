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
		{"AboveOutside", with(`"cacheRead"`, `"above": 1, "cacheRead"`), "models.a: above is only for long"},
		{"LongForever", with(`"cacheRead"`, `"long": {"input": 1, "output": 1}, "cacheRead"`), "models.a: long needs above"},
		{
			"LongTwice",
			with(`"cacheRead"`,
				`"long": {"above": 1, "input": 1, "output": 1, "tiers": {"flex": {"input": 1, "output": 1}}}, "cacheRead"`),
			"models.a: long has no long and no tiers",
		},
		{
			"NegativeTier", with(`"cacheRead"`, `"tiers": {"flex": {"input": -1, "output": 1}}, "cacheRead"`),
			"models.a: the rate -1 is negative",
		},
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

// The built-in table knows the models that are in wide use, by the names that providers, clouds and routers give them.
func TestBuiltin(t *testing.T) {
	t.Parallel()

	b := price.Builtin()
	if b.Models["gpt-4o-mini"].Input != 150_000 || b.AsOf == "" || b.Check() != nil {
		t.Errorf("%s of %s: %v", b.Version, b.AsOf, b.Check())
	}
	pricer, err := price.New(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	one := int64(1)
	for name := range strings.FieldsSeq(`
		gpt-4o gpt-4o-2024-05-13 gpt-4o-2024-11-20 gpt-4o-mini-2024-07-18 openai/gpt-4o gpt-4.1 gpt-4.1-mini-2025-04-14
		gpt-5 gpt-5-2025-08-07 gpt-5-mini gpt-5-nano gpt-5-pro gpt-5-codex gpt-5-chat-latest gpt-5.1 gpt-5.1-2025-11-13
		gpt-5.1-codex gpt-5.2 gpt-5.2-pro gpt-5.3-codex gpt-5.4 gpt-5.4-mini gpt-5.4-nano gpt-5.4-2026-03-05 gpt-5.5
		gpt-5.5-2026-04-23 gpt-5.5-pro o1 o3 o3-2025-04-16 o3-mini o4-mini claude-3-5-haiku-20241022
		claude-3-5-sonnet-20241022 claude-3-7-sonnet-20250219 claude-sonnet-4-20250514 claude-opus-4-1-20250805
		claude-sonnet-4-5-20250929 claude-haiku-4-5 claude-opus-4-5-20251101 claude-opus-4-6 claude-sonnet-4-6
		claude-opus-5 claude-sonnet-5 anthropic/claude-opus-4.6 eu.anthropic.claude-sonnet-4-5-20250929-v1:0
		claude-haiku-4-5@20251001 gemini-2.0-flash gemini-2.5-pro gemini-2.5-flash gemini-2.5-flash-lite
		models/gemini-3-pro-preview google/gemini-3-flash-preview grok-3 grok-3-mini grok-4 grok-4-0709
		grok-4-fast-reasoning grok-4.3 grok-4.5 x-ai/grok-code-fast-1 deepseek-chat deepseek-reasoner
		deepseek/deepseek-v4-pro mistral-large-latest mistral-medium-latest mistral-small-latest codestral-latest
		kimi-k2-thinking kimi-k2.5 moonshotai/kimi-k2.6 glm-4.6 glm-4.7 z-ai/glm-5.1 llama-3.3-70b-versatile
		openai/gpt-oss-120b`) {
		cost, err := pricer.Price(t.Context(),
			price.Charge{Model: "m", Requested: name, Usage: spool.Usage{Input: &one, Output: &one}})
		if err != nil || cost.Currency != "USD" {
			t.Errorf("%s: %+v, %v", name, cost, err)
		}
	}
	if _, err := pricer.Price(
		t.Context(), price.Charge{Model: "m", ModelID: "qwen3:8b", Usage: spool.Usage{Input: &one, Output: &one}},
	); spool.CodeOf(err) != spool.NotFound {
		t.Errorf("a local model: %v", err)
	}
}
