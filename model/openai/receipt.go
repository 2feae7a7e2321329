package openai

import (
	"encoding/json"
	"math/big"

	"github.com/spoolhq/spool"
)

// ticks is how many of xAI's units a dollar has.
const ticks = 10_000_000_000

// receipt returns the cost that a server reports for an answer, or nil if it reports none.
func (u *usage) receipt(currency string) *spool.Cost {
	if len(u.Ticks) > 0 && string(u.Ticks) != "null" {
		return receipt(u.Ticks, currency, ticks)
	}
	return receipt(u.Cost, currency, 1)
}

// maxReceipt is the highest cost of an answer that is believed, in units of the currency. The sums of costs that are
// believed fit an integer of 64 bits.
const maxReceipt = 1e6

// receipt reads a cost. One unit of the currency has perUnit of the cost's units. It returns nil for a value that is
// negative, not a number or above maxReceipt.
func receipt(text json.RawMessage, currency string, perUnit int64) *spool.Cost {
	if currency == none || len(text) == 0 || len(text) > 64 {
		return nil
	}
	var number json.Number
	if json.Unmarshal(text, &number) != nil || text[0] == '"' || number == "" {
		return nil
	}
	// A float's range is large enough. The check rules out exponents that make a number of a million
	// digits from a short text.
	float, err := number.Float64()
	if err != nil || float < 0 || float/float64(perUnit) > maxReceipt {
		return nil
	}
	cost, ok := new(big.Rat).SetString(string(number))
	if !ok || float != 0 && float < 1e-12 {
		cost = new(big.Rat)
	}
	cost.Mul(cost, big.NewRat(1_000_000, perUnit)).Add(cost, big.NewRat(1, 2)) // rounds a half up
	micros := new(big.Int).Quo(cost.Num(), cost.Denom())
	return &spool.Cost{Micros: micros.Int64(), Currency: currency, Source: spool.CostReceipt}
}
