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

// pricesKind is the name of a table, or the rates of models.
func pricesKind(p *Prices) kind {
	k := entries(modelPrices(new(price.Rates)), func(e entry) {
		var r price.Rates
		e.read(modelPrices(&r))
		p.Models[e.name] = r
	})
	k.text = true
	rates := k.read
	k.read = func(v value) {
		p.Source = v.source()
		if v.node.Kind != yaml.MappingNode {
			p.File = v.text()
			return
		}
		p.Models = make(map[string]price.Rates)
		rates(v)
	}
	return k
}

// modelPrices are the prices of a model.
func modelPrices(r *price.Rates) table {
	return append(table{row("long", optional(&r.Long, func(l *price.LongRates) table {
		return append(table{row("above", required(integer(&l.Above)),
			"The tokens of the longest prompt that has the usual prices.")}, ratesOptions(&l.Rates)...)
	}), "The prices of calls with a long prompt. Default: the same.")}, ratesOptions(r)...)
}

// ratesOptions are the rates of a model.
func ratesOptions(r *price.Rates) table {
	return table{
		row("input", required(rate(func(p price.PerMillion) { r.Input = p })),
			"The price of a million tokens of prompts."),
		row("cache_read", rate(func(p price.PerMillion) { r.CacheRead = &p }),
			"That of tokens from a cache. Default: as input."),
		row("cache_write", rate(func(p price.PerMillion) { r.CacheWrite = &p }),
			"That of tokens into a cache. Default: as input."),
		row("cache_write_hour", rate(func(p price.PerMillion) { r.CacheWriteHour = &p }),
			"That of tokens into a cache for an hour. Default: as cache_write."),
		row("output", required(rate(func(p price.PerMillion) { r.Output = p })),
			"The price of a million tokens of answers."),
		row("reasoning", rate(func(p price.PerMillion) { r.Reasoning = &p }), "That of reasoning. Default: as output."),
	}
}

// rate is the price of a million tokens.
func rate(set func(p price.PerMillion)) kind {
	var n *float64
	return number(&n, 0, maxRate).then(func(value) {
		if n != nil {
			set(price.PerMillion(math.Round(*n * 1e6)))
		}
	})
}
