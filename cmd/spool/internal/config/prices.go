package config

import (
	"math"

	"go.yaml.in/yaml/v4"

	"github.com/spoolhq/spool/price"
)

// Prices is the field prices. The zero value, but for its source, says that no call has a price.
type Prices struct {
	Source

	// File is the file of the table, or "builtin".
	File string
	// Models are prices that win over those of the built-in table.
	Models map[string]price.Rates
}

// None reports whether no call has a price.
func (p Prices) None() bool { return p.File == "" && p.Models == nil }

// maxRate is the highest price of a million tokens.
const maxRate = 100_000

// rateFields are the rates of a model.
var rateFields = []string{"input", "cache_read", "cache_write", "cache_write_hour", "output", "reasoning"}

// prices reads the field prices: the name of a table, or the rates of models.
func prices(v value) Prices {
	p := Prices{Source: v.source()}
	if !v.present() || v.node.Kind != yaml.MappingNode {
		p.File = v.text()
		return p
	}
	v.shape.orText()
	p.Models = make(map[string]price.Rates)
	for _, e := range v.entries() {
		f := e.fields(append([]string{"long"}, rateFields...)...)
		rates := ratesOf(f)
		if long := f["long"]; long.present() {
			f := long.fields(append([]string{"above"}, rateFields...)...)
			f["above"].required()
			rates.Long = &price.LongRates{Above: int64(f["above"].integer()), Rates: ratesOf(f)}
		}
		p.Models[e.name] = rates
	}
	return p
}

// ratesOf reads the rates of a model.
func ratesOf(f map[string]value) price.Rates {
	rate := func(name string) *price.PerMillion {
		n := f[name].number(0, maxRate)
		if n == nil {
			return nil
		}
		p := price.PerMillion(math.Round(*n * 1e6))
		return &p
	}
	r := price.Rates{CacheRead: rate("cache_read"), CacheWrite: rate("cache_write"), CacheWriteHour: rate("cache_write_hour"), Reasoning: rate("reasoning")}
	for name, to := range map[string]*price.PerMillion{"input": &r.Input, "output": &r.Output} {
		if f[name].required() {
			if p := rate(name); p != nil {
				*to = *p
			}
		}
	}
	return r
}
