package price

import (
	"context"
	"log/slog"
	"math"
	"math/bits"
	"strings"
	"sync"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

// New returns a pricer over a table. Log gets a warning, once for each model, if a cache was used and the
// table has no rate for it; nil means [slog.Default]. New returns the error of [Table.Check].
//
// A charge is looked up by the configured name of the model, then by the provider's name, and then by both
// without the variant after an "@", without what clouds and routers add, and without the date. If the model is
// not found, or the charge lacks the count of its prompt or of its answer, the error is [spool.NotFound]. If
// counts are invalid, or their sum needs more than 64 bits, the error is [spool.Invalid].
func New(t Table, log *slog.Logger) (Pricer, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if log == nil {
		log = slog.Default()
	}
	return &tablePricer{table: t, log: log}, nil
}

type tablePricer struct {
	table  Table
	log    *slog.Logger
	warned sync.Map // of the names of models
}

// Price implements [price.Pricer].
func (p *tablePricer) Price(ctx context.Context, c Charge) (spool.Cost, error) {
	name, rates, ok := p.find(c)
	if !ok {
		return spool.Cost{}, spool.Errorf(spool.NotFound, "the price table does not have the model")
	}
	if c.Usage.Input == nil || c.Usage.Output == nil {
		return spool.Cost{}, spool.Errorf(spool.NotFound, "the tokens were not counted")
	}
	micros, err := p.micros(ctx, name, rates.of(c.Tier, *c.Usage.Input), c)
	if err != nil {
		return spool.Cost{}, err
	}
	source := spool.CostTable
	if c.Estimated {
		source = spool.CostEstimate
	}
	return spool.Cost{Micros: micros, Currency: p.table.Currency, Source: source, Version: p.table.Version}, nil
}

// find returns the rates of the model, and the name that has them.
func (p *tablePricer) find(c Charge) (string, Rates, bool) {
	for _, form := range []func(string) string{own, variant, knownmodel.Plain, undated} {
		for _, name := range []string{c.Model, c.ModelID, c.Requested} {
			name = form(name)
			if rates, ok := p.table.Models[name]; ok {
				return name, rates, true
			}
		}
	}
	return "", Rates{}, false
}

func own(name string) string { return name }

// variant returns a name without the variant after an "@".
func variant(name string) string {
	name, _, _ = strings.Cut(name, "@")
	return name
}

// undated returns a name as the model's maker writes it, without a date.
func undated(name string) string { return knownmodel.Undated(knownmodel.Plain(name)) }

// micros returns the price of the counts. Tokens that were read from a cache or written to one are part of
// the input, and reasoning tokens are part of the output.
func (p *tablePricer) micros(ctx context.Context, name string, r Rates, c Charge) (int64, error) {
	u, ofWrite := c.Usage, r.CacheWrite
	if c.CacheFor >= time.Hour && r.CacheWriteHour != nil {
		ofWrite = r.CacheWriteHour
	}
	read, write, reasoning := value(u.CacheRead), value(u.CacheWrite), value(u.Reasoning)
	input, output := *u.Input, *u.Output
	for _, n := range []int64{input, output, read, write, reasoning} {
		if n < 0 {
			return 0, spool.Errorf(spool.Invalid, "a count of tokens is negative")
		}
	}
	if r.CacheRead == nil && read > 0 || ofWrite == nil && write > 0 {
		if _, known := p.warned.LoadOrStore(name, true); !known {
			p.log.WarnContext(ctx, "the price table has no rate for a cache: cached tokens cost what others do",
				"model", name, "table", p.table.Version)
		}
	}
	var s sum
	s.add(max(0, input-min(read, math.MaxInt64-write)-write), r.Input)
	s.add(read, or(r.CacheRead, r.Input))
	s.add(write, or(ofWrite, r.Input))
	s.add(max(0, output-reasoning), r.Output)
	s.add(reasoning, or(r.Reasoning, r.Output))
	return s.micros()
}

// sum adds products of counts and rates in 128 bits. None of them is negative.
type sum struct {
	high, low uint64
	over      bool
}

func (s *sum) add(n int64, rate PerMillion) {
	high, low := bits.Mul64(uint64(n), uint64(rate)) //nolint:gosec // neither is negative
	var carry uint64
	s.low, carry = bits.Add64(s.low, low, 0)
	s.high, carry = bits.Add64(s.high, high, carry)
	s.over = s.over || carry != 0
}

// micros returns the sum in millionths, with a half rounded upwards.
func (s *sum) micros() (int64, error) {
	low, carry := bits.Add64(s.low, perUnit/2, 0)
	high := s.high + carry
	if s.over || high >= perUnit {
		return 0, errTooMuch
	}
	micros, _ := bits.Div64(high, low, perUnit)
	if micros > math.MaxInt64 {
		return 0, errTooMuch
	}
	return int64(micros), nil
}

var errTooMuch = spool.Errorf(spool.Invalid, "the cost is larger than can be told")

func or(rate *PerMillion, other PerMillion) PerMillion {
	if rate == nil {
		return other
	}
	return *rate
}

func value(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
