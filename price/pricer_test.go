package price_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/price"
)

func n(n int64) *int64 { return new(n) }

func rate(r price.PerMillion) *price.PerMillion { return new(r) }

// pricer returns a pricer over a table of three models, and what it logs.
func pricer(t *testing.T) (price.Pricer, *bytes.Buffer) {
	t.Helper()

	log := new(bytes.Buffer)
	p, err := price.New(price.Table{Version: "7", Currency: "EUR", Models: map[string]price.Rates{
		"full": {
			Input: 10_000_000, Output: 40_000_000, CacheRead: rate(1_000_000), CacheWrite: rate(20_000_000),
			Reasoning: rate(5_000_000),
		},
		"plain": {Input: 150_000, Output: 600_000},
		"large": {Input: 1_000_000_000_000, Output: 1_000_000_000_000},
	}}, slog.New(slog.NewTextHandler(log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	return p, log
}

func TestCounts(t *testing.T) {
	t.Parallel()

	p, _ := pricer(t)
	for _, c := range []struct {
		name, model string
		usage       spool.Usage
		want        int64
	}{
		{"Nothing", "plain", spool.Usage{Input: n(0), Output: n(0)}, 0},
		{"Plain", "plain", spool.Usage{Input: n(1000), Output: n(500)}, 450},
		{"HalfUp", "plain", spool.Usage{Input: n(10), Output: n(0)}, 2},
		{"BelowHalf", "plain", spool.Usage{Input: n(3), Output: n(0)}, 0},
		{"RoundedOnce", "plain", spool.Usage{Input: n(2), Output: n(1)}, 1},
		{
			"CachePartOfInput", "full",
			spool.Usage{Input: n(100), CacheRead: n(60), CacheWrite: n(10), Output: n(0)},
			30*10 + 60 + 10*20,
		},
		{"ReasoningPartOfOutput", "full", spool.Usage{Input: n(0), Output: n(10), Reasoning: n(4)}, 6*40 + 4*5},
		{"CacheAtInputRate", "plain", spool.Usage{Input: n(1000), CacheRead: n(400), CacheWrite: n(600), Output: n(0)}, 150},
		{"ReasoningAtOutputRate", "plain", spool.Usage{Input: n(0), Output: n(1000), Reasoning: n(1000)}, 600},
		{
			"MoreCachedThanInput", "full",
			spool.Usage{Input: n(1), CacheRead: n(math.MaxInt64 / 2), CacheWrite: n(0), Output: n(0)},
			math.MaxInt64 / 2,
		},
		{"AsLargeAsCanBe", "full", spool.Usage{Input: n(0), CacheRead: n(math.MaxInt64), Output: n(0)}, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			got, err := p.Price(context.Background(), price.Charge{Model: c.model, Usage: c.usage})
			want := spool.Cost{Micros: c.want, Currency: "EUR", Source: spool.CostTable, Version: "7"}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestUnpriced(t *testing.T) {
	t.Parallel()

	p, _ := pricer(t)
	for _, c := range []struct {
		name   string
		charge price.Charge
		want   spool.Code
	}{
		{"UnknownModel", price.Charge{Model: "other", Usage: spool.Usage{Input: n(1), Output: n(1)}}, spool.NotFound},
		{"InputNotCounted", price.Charge{Model: "plain", Usage: spool.Usage{Output: n(1)}}, spool.NotFound},
		{"OutputNotCounted", price.Charge{Model: "plain", Usage: spool.Usage{Input: n(1)}}, spool.NotFound},
		{"Negative", price.Charge{Model: "plain", Usage: spool.Usage{Input: n(-1), Output: n(1)}}, spool.Invalid},
		{
			"TooLarge",
			price.Charge{Model: "large", Usage: spool.Usage{Input: n(math.MaxInt64), Output: n(math.MaxInt64)}},
			spool.Invalid,
		},
		{
			"TooLargeBySum",
			price.Charge{
				Model: "full",
				Usage: spool.Usage{
					Input: n(1), CacheRead: n(math.MaxInt64), CacheWrite: n(math.MaxInt64), Output: n(math.MaxInt64),
				},
			},
			spool.Invalid,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			cost, err := p.Price(context.Background(), c.charge)
			if spool.CodeOf(err) != c.want || cost != (spool.Cost{}) {
				t.Errorf("%+v, %v, want the code %s", cost, err, c.want)
			}
		})
	}
}

func TestModelNames(t *testing.T) {
	t.Parallel()

	p, _ := pricer(t)
	usage := spool.Usage{Input: n(1_000_000), Output: n(0)}
	const full, plain = 10_000_000, 150_000
	for _, c := range []struct {
		name   string
		charge price.Charge
		want   int64
	}{
		{"Configured", price.Charge{Model: "full", ModelID: "plain", Requested: "plain"}, full},
		{"Answered", price.Charge{Model: "x", ModelID: "full", Requested: "plain"}, full},
		{"Requested", price.Charge{Model: "x", ModelID: "x-2025", Requested: "full"}, full},
		{"WholeNameBeforeVariant", price.Charge{Model: "full@eu", ModelID: "plain"}, plain},
		{"Variant", price.Charge{Model: "full@eu", ModelID: "y@z"}, full},
		{"VariantOfAnswered", price.Charge{Model: "x", ModelID: "plain@eu"}, plain},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			c.charge.Usage = usage
			if got, err := p.Price(context.Background(), c.charge); got.Micros != c.want || err != nil {
				t.Errorf("%d, %v, want %d", got.Micros, err, c.want)
			}
		})
	}
}

func TestEstimate(t *testing.T) {
	t.Parallel()

	p, _ := pricer(t)
	got, err := p.Price(context.Background(),
		price.Charge{Model: "plain", Estimated: true, Usage: spool.Usage{Input: n(1000), Output: n(0)}})
	if want := (spool.Cost{Micros: 150, Currency: "EUR", Source: spool.CostEstimate, Version: "7"}); got != want ||
		err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
}

func TestMissingCacheRateIsWarnedOfOnce(t *testing.T) {
	t.Parallel()

	p, log := pricer(t)
	for _, usage := range []spool.Usage{
		{Input: n(1), Output: n(1), CacheRead: n(0)},
		{Input: n(1), Output: n(1), CacheRead: n(1)},
		{Input: n(1), Output: n(1), CacheWrite: n(1)},
	} {
		if _, err := p.Price(context.Background(), price.Charge{Model: "plain", Usage: usage}); err != nil {
			t.Error(err)
		}
		if _, err := p.Price(context.Background(), price.Charge{Model: "full", Usage: usage}); err != nil {
			t.Error(err)
		}
	}
	if got := strings.Count(log.String(), "level=WARN"); got != 1 || !strings.Contains(log.String(), "model=plain") {
		t.Errorf("%d warnings, want one:\n%s", got, log)
	}
}

func TestReceipt(t *testing.T) {
	t.Parallel()

	want := spool.Cost{Micros: 5, Currency: "USD", Source: spool.CostReceipt}
	got, err := price.Receipt{}.Price(context.Background(),
		price.Charge{Receipt: &spool.Cost{Micros: 5, Currency: "USD", Version: "x"}})
	if got != want || err != nil {
		t.Errorf("%+v, %v, want %+v", got, err, want)
	}
	for _, c := range []struct {
		receipt *spool.Cost
		want    spool.Code
	}{
		{nil, spool.NotFound},
		{&spool.Cost{Micros: -1, Currency: "USD"}, spool.Invalid},
		{&spool.Cost{Micros: 1}, spool.Invalid},
	} {
		if _, err := (price.Receipt{}).Price(
			context.Background(), price.Charge{Receipt: c.receipt},
		); spool.CodeOf(err) != c.want {
			t.Errorf("%+v: %v, want the code %s", c.receipt, err, c.want)
		}
	}
}

type pricerFunc func() (spool.Cost, error)

func (f pricerFunc) Price(context.Context, price.Charge) (spool.Cost, error) { return f() }

func TestChain(t *testing.T) {
	t.Parallel()

	missing := pricerFunc(func() (spool.Cost, error) { return spool.Cost{}, spool.Errorf(spool.NotFound, "no") })
	failing := pricerFunc(func() (spool.Cost, error) { return spool.Cost{}, errors.New("broken") })
	panicking := pricerFunc(func() (spool.Cost, error) { panic("broken") })
	costing := func(micros int64) price.Pricer {
		return pricerFunc(func() (spool.Cost, error) { return spool.Cost{Micros: micros}, nil })
	}
	for _, c := range []struct {
		name     string
		pricers  []price.Pricer
		want     int64
		code     spool.Code
		warnings int
	}{
		{"FirstAnswer", []price.Pricer{costing(1), costing(2)}, 1, "", 0},
		{"AnswerOfNothing", []price.Pricer{costing(0), costing(2)}, 0, "", 0},
		{"Missing", []price.Pricer{missing, costing(2)}, 2, "", 0},
		{"Failing", []price.Pricer{failing, panicking, costing(3)}, 3, "", 2},
		{"None", []price.Pricer{missing, failing}, 0, spool.NotFound, 1},
		{"Empty", nil, 0, spool.NotFound, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()

			log := new(bytes.Buffer)
			chain := price.Chain(slog.New(slog.NewTextHandler(log, nil)), c.pricers...)
			got, err := chain.Price(context.Background(), price.Charge{})
			if got.Micros != c.want || spool.CodeOf(err) != c.code {
				t.Errorf("%+v, %v", got, err)
			}
			if got := strings.Count(log.String(), "level=WARN"); got != c.warnings {
				t.Errorf("%d warnings, want %d:\n%s", got, c.warnings, log)
			}
		})
	}
}

// A call has other rates with a long prompt, in a service tier, and for what a cache keeps for an hour.
func TestPriceByBilling(t *testing.T) {
	t.Parallel()

	pricer, err := price.New(price.Table{Version: "1", Currency: "USD", Models: map[string]price.Rates{
		"m": {
			Input: 1_000_000, Output: 2_000_000, CacheWrite: rate(3_000_000), CacheWriteHour: rate(5_000_000),
			Long: &price.LongRates{
				Above: 100, Rates: price.Rates{Input: 10_000_000, Output: 20_000_000, CacheWrite: rate(30_000_000)},
			},
			Tiers: map[string]price.Rates{
				"flex": {
					Input: 500_000, Output: 1_000_000,
					Long: &price.LongRates{Above: 100, Rates: price.Rates{Input: 7_000_000, Output: 8_000_000}},
				},
				"dear": {Input: 4_000_000, Output: 4_000_000},
			},
		},
	}}, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		input, write int64
		tier         string
		cacheFor     time.Duration
		want         int64
	}{
		"standard":                    {input: 100, want: 100 + 20},
		"long":                        {input: 101, want: 1010 + 200},
		"flex":                        {input: 100, tier: "flex", want: 50 + 10},
		"flex, long":                  {input: 101, tier: "flex", want: 707 + 80},
		"a tier without a long rate":  {input: 101, tier: "dear", want: 404 + 40},
		"unknown tier":                {input: 100, tier: "auto", want: 100 + 20},
		"written":                     {input: 100, write: 10, want: 90 + 30 + 20},
		"written for an hour":         {input: 100, write: 10, cacheFor: time.Hour, want: 90 + 50 + 20},
		"written for five minutes":    {input: 100, write: 10, cacheFor: 5 * time.Minute, want: 90 + 30 + 20},
		"long, written for an hour":   {input: 110, write: 10, cacheFor: time.Hour, want: 1000 + 300 + 200},
		"flex, which has no such one": {input: 100, write: 10, tier: "flex", cacheFor: time.Hour, want: 45 + 5 + 10},
	} {
		ten := int64(10)
		u := spool.Usage{Input: &c.input, Output: &ten, CacheWrite: &c.write}
		cost, err := pricer.Price(t.Context(), price.Charge{Model: "m", Usage: u, Tier: c.tier, CacheFor: c.cacheFor})
		if err != nil || cost.Micros != c.want {
			t.Errorf("%s: %d, want %d, %v", name, cost.Micros, c.want, err)
		}
	}
}
