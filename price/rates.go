package price

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// PerMillion is a rate, in millionths of the currency per million tokens. As JSON it is
// a decimal number of the currency per million tokens, with up to six decimals: 0.15 is
// 150,000.
type PerMillion int64

const perUnit = 1_000_000

// UnmarshalJSON reads a decimal number. It refuses a negative one, one with more than six
// decimals, and one above a million.
func (p *PerMillion) UnmarshalJSON(text []byte) error {
	var number json.Number
	if err := json.Unmarshal(text, &number); err != nil || len(number) > 32 {
		return fmt.Errorf("%s is not a rate", clip(string(text)))
	}
	rate, ok := new(big.Rat).SetString(string(number))
	if !ok || strings.ContainsAny(string(number), "eE") {
		return fmt.Errorf("%s is not a rate", clip(string(text)))
	}
	rate.Mul(rate, big.NewRat(perUnit, 1))
	switch {
	case rate.Sign() < 0:
		return fmt.Errorf("the rate %s is negative", number)
	case !rate.IsInt():
		return fmt.Errorf("the rate %s has more than six decimals", number)
	case rate.Cmp(big.NewRat(perUnit*perUnit, 1)) > 0:
		return fmt.Errorf("the rate %s is above a million", number)
	}
	*p = PerMillion(rate.Num().Int64())
	return nil
}

// MarshalJSON writes the decimal number.
func (p PerMillion) MarshalJSON() ([]byte, error) {
	text := new(big.Rat).SetFrac64(int64(p), perUnit).FloatString(6)
	return []byte(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")), nil
}

// Rates are the prices of one model.
type Rates struct {
	// Input is the rate of prompt tokens that were neither read from a cache nor written to one. Output is
	// the rate of the tokens that the model writes.
	Input, Output PerMillion
	// CacheRead and CacheWrite are the rates of prompt tokens that were read from a cache or written to one.
	// Nil: the rate of Input; the pricer warns once when it uses that.
	CacheRead, CacheWrite *PerMillion
	// CacheWriteHour is the rate of prompt tokens that were written to a cache for an hour. Nil: the rate of
	// CacheWrite.
	CacheWriteHour *PerMillion
	// Reasoning is the rate of reasoning tokens, which are part of the output. Nil: the rate of Output.
	Reasoning *PerMillion
	// Long has the rates of calls with a long prompt. Nil: they are the same.
	Long *LongRates
	// Tiers has the rates of calls in a service tier, such as "flex", "priority" or "batch". A tier that is
	// missing has these rates.
	Tiers map[string]Rates
}

// LongRates are the rates of calls whose prompt is longer than a bound. They are for all tokens of such a call.
type LongRates struct {
	Rates

	// Above is the longest prompt that has the usual rates, in tokens.
	Above int64
}

// of returns the rates of a call.
func (r Rates) of(tier string, input int64) Rates {
	if t, ok := r.Tiers[tier]; ok {
		r = t
	}
	if r.Long != nil && input > r.Long.Above {
		return r.Long.Rates
	}
	return r
}

// negative reports whether a rate is negative.
func (r Rates) negative() bool {
	for _, rate := range []*PerMillion{&r.Input, &r.Output, r.CacheRead, r.CacheWrite, r.CacheWriteHour, r.Reasoning} {
		if rate != nil && *rate < 0 {
			return true
		}
	}
	for _, t := range r.Tiers {
		if t.negative() {
			return true
		}
	}
	return r.Long != nil && r.Long.negative()
}

// wireRates are rates as JSON, which distinguishes a missing rate from zero.
type wireRates struct {
	Above          *int64           `json:"above,omitempty"`
	Input          *PerMillion      `json:"input,omitempty"`
	CacheRead      *PerMillion      `json:"cacheRead,omitempty"`
	CacheWrite     *PerMillion      `json:"cacheWrite,omitempty"`
	CacheWriteHour *PerMillion      `json:"cacheWriteHour,omitempty"`
	Output         *PerMillion      `json:"output,omitempty"`
	Reasoning      *PerMillion      `json:"reasoning,omitempty"`
	Long           *LongRates       `json:"long,omitempty"`
	Tiers          map[string]Rates `json:"tiers,omitempty"`
}

func (r Rates) wire() wireRates {
	return wireRates{
		Input: &r.Input, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, CacheWriteHour: r.CacheWriteHour,
		Output: &r.Output, Reasoning: r.Reasoning, Long: r.Long, Tiers: r.Tiers,
	}
}

func (w wireRates) rates() (Rates, error) {
	if w.Input == nil || w.Output == nil {
		return Rates{}, errors.New("input and output are required")
	}
	return Rates{
		Input: *w.Input, CacheRead: w.CacheRead, CacheWrite: w.CacheWrite, CacheWriteHour: w.CacheWriteHour,
		Output: *w.Output, Reasoning: w.Reasoning, Long: w.Long, Tiers: w.Tiers,
	}, nil
}

// MarshalJSON writes the rates that are set.
func (r Rates) MarshalJSON() ([]byte, error) { return json.Marshal(r.wire()) }

// UnmarshalJSON reads rates. It requires input and output, and refuses unknown fields.
func (r *Rates) UnmarshalJSON(text []byte) error {
	var w wireRates
	if err := strict(text, &w); err != nil {
		return err
	}
	if w.Above != nil {
		return errors.New("above is only for long")
	}
	var err error
	*r, err = w.rates()
	return err
}

// MarshalJSON writes the bound and the rates that are set.
func (l LongRates) MarshalJSON() ([]byte, error) {
	w := l.wire()
	w.Above = &l.Above
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes. It requires the bound, and refuses further bounds and tiers.
func (l *LongRates) UnmarshalJSON(text []byte) error {
	var w wireRates
	if err := strict(text, &w); err != nil {
		return err
	}
	switch {
	case w.Above == nil || *w.Above <= 0:
		return errors.New("long needs above, a number of tokens")
	case w.Long != nil || w.Tiers != nil:
		return errors.New("long has no long and no tiers")
	}
	var err error
	l.Above = *w.Above
	l.Rates, err = w.rates()
	return err
}

func clip(text string) string {
	if len(text) > 32 {
		return text[:32] + "..."
	}
	return text
}
