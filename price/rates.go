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
	// Reasoning is the rate of reasoning tokens, which are part of the output. Nil: the rate of Output.
	Reasoning *PerMillion
}

// wireRates are rates as JSON, which distinguishes a missing rate from zero.
type wireRates struct {
	Input      *PerMillion `json:"input,omitempty"`
	CacheRead  *PerMillion `json:"cacheRead,omitempty"`
	CacheWrite *PerMillion `json:"cacheWrite,omitempty"`
	Output     *PerMillion `json:"output,omitempty"`
	Reasoning  *PerMillion `json:"reasoning,omitempty"`
}

// MarshalJSON writes the rates that are set.
func (r Rates) MarshalJSON() ([]byte, error) {
	return json.Marshal(wireRates{
		Input: &r.Input, CacheRead: r.CacheRead, CacheWrite: r.CacheWrite, Output: &r.Output, Reasoning: r.Reasoning,
	})
}

// UnmarshalJSON reads rates. It requires input and output, and refuses unknown fields.
func (r *Rates) UnmarshalJSON(text []byte) error {
	var wire wireRates
	if err := strict(text, &wire); err != nil {
		return err
	}
	if wire.Input == nil || wire.Output == nil {
		return errors.New("input and output are required")
	}
	*r = Rates{
		Input: *wire.Input, CacheRead: wire.CacheRead, CacheWrite: wire.CacheWrite, Output: *wire.Output, Reasoning: wire.Reasoning,
	}
	return nil
}

func clip(text string) string {
	if len(text) > 32 {
		return text[:32] + "..."
	}
	return text
}
