package pricing

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/price"
	"github.com/spoolhq/spool/wire"
)

type pricer func(c price.Charge) (spool.Cost, error)

func (p pricer) Price(ctx context.Context, c price.Charge) (spool.Cost, error) {
	if err := ctx.Err(); err != nil {
		return spool.Cost{}, err
	}
	return p(c)
}

type (
	// plain is a model that says nothing of itself.
	plain struct{ spool.Model }
	// named is a model that its provider calls "large", with calls in a service tier.
	named struct{ spool.Model }
	// reporter is a model whose provider may report costs in a currency.
	reporter struct {
		spool.Model

		currency string
	}
)

func (named) Describe() spool.ModelInfo {
	return spool.ModelInfo{Provider: "p", Model: "large", Billing: func(r spool.ModelRequest) (string, time.Duration) {
		return r.Instructions, time.Hour
	}}
}

func (r reporter) Describe() spool.ModelInfo { return spool.ModelInfo{ReceiptCurrency: r.currency} }

// A use has the price that its pricer knows. A pricer that fails costs nothing, and no run.
func TestPrice(t *testing.T) {
	t.Parallel()
	dollar := spool.Cost{Micros: 7, Currency: "USD"}
	for name, c := range map[string]struct {
		pricer pricer
		want   *spool.Cost
	}{
		"known": {func(price.Charge) (spool.Cost, error) { return dollar, nil }, &dollar},
		"free": {
			func(price.Charge) (spool.Cost, error) { return spool.Cost{Currency: "USD"}, nil },
			&spool.Cost{Currency: "USD"},
		},
		"unknown":     {func(price.Charge) (spool.Cost, error) { return dollar, spool.Errorf(spool.NotFound, "none") }, nil},
		"fails":       {func(price.Charge) (spool.Cost, error) { return dollar, errors.New("no") }, nil},
		"panics":      {func(price.Charge) (spool.Cost, error) { panic("no") }, nil},
		"negative":    {func(price.Charge) (spool.Cost, error) { return spool.Cost{Micros: -1, Currency: "USD"}, nil }, nil},
		"no currency": {func(price.Charge) (spool.Cost, error) { return spool.Cost{Micros: 1}, nil }, nil},
	} {
		p := Prices{Pricer: c.pricer, Log: slog.New(slog.DiscardHandler)}
		if diff := cmp.Diff(c.want, p.Price(t.Context(), plain{}, spool.ModelRequest{}, wire.UsageRow{}, nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if got := (Prices{}).Price(t.Context(), plain{}, spool.ModelRequest{}, wire.UsageRow{}, &dollar); got != nil {
		t.Errorf("without a pricer: %+v", got)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	five, three := int64(5), int64(3)
	row := wire.UsageRow{
		Kind: spool.UsageStep, Agent: "a", Model: "m", ModelID: "large-2", Usage: spool.Usage{Input: &five},
		Guess: spool.Usage{Output: &three},
	}
	p := Prices{Pricer: pricer(func(c price.Charge) (spool.Cost, error) {
		want := price.Charge{
			Kind: spool.UsageStep, Agent: "a", Model: "m", ModelID: "large-2", Requested: "large",
			Usage: spool.Usage{Input: &five, Output: &three}, Estimated: true, Receipt: &dollar,
			Tier: "flex", CacheFor: time.Hour,
		}
		if diff := cmp.Diff(want, c); diff != "" {
			t.Errorf("what is priced (-want +got):\n%s", diff)
		}
		return dollar, nil
	})}
	if got := p.Price(over, named{}, spool.ModelRequest{Instructions: "flex"}, row, &dollar); got == nil {
		t.Error("the answer of a run that has ended has no price")
	}
}

// A budget of money bounds a model whose calls have a price, in the budget's currency.
func TestUnpriced(t *testing.T) {
	t.Parallel()
	euro := func(price.Charge) (spool.Cost, error) { return spool.Cost{Micros: 1, Currency: "EUR"}, nil }
	receipts := func(c price.Charge) (spool.Cost, error) {
		if c.Receipt == nil {
			return spool.Cost{}, spool.Errorf(spool.NotFound, "none")
		}
		return *c.Receipt, nil
	}
	for name, c := range map[string]struct {
		pricer   price.Pricer
		model    spool.Model
		allow    bool
		currency string
		want     bool
	}{
		"priced":                      {pricer: pricer(euro), currency: "EUR"},
		"any currency":                {pricer: pricer(euro)},
		"another currency":            {pricer: pricer(euro), currency: "USD", want: true},
		"another currency is allowed": {pricer: pricer(euro), currency: "USD", allow: true},
		"unknown":                     {pricer: pricer(receipts), want: true},
		"unknown is allowed":          {pricer: pricer(receipts), allow: true},
		"reported":                    {pricer: pricer(receipts), model: reporter{currency: "EUR"}, currency: "EUR"},
		"reported abroad": {
			pricer: pricer(receipts), model: reporter{currency: "EUR"}, currency: "USD", want: true,
		},
		"not reported": {pricer: pricer(receipts), model: reporter{}, want: true},
		"reported in vain": {
			pricer: pricer(func(price.Charge) (spool.Cost, error) { return spool.Cost{}, spool.Errorf(spool.NotFound, "no") }),
			model:  reporter{currency: "EUR"}, want: true,
		},
		"the pricer fails": {
			pricer: pricer(func(price.Charge) (spool.Cost, error) { return spool.Cost{}, errors.New("down") }),
		},
		"no pricer": {want: true},
	} {
		p := Prices{Pricer: c.pricer, AllowUnpriced: c.allow}
		if c.model == nil {
			c.model = plain{}
		}
		if got := p.Unpriced(t.Context(), "a", "m", c.model, c.currency); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
