package wire

// Money is a sum in one currency.
type Money struct {
	Currency string `doc:"The currency." example:"USD" json:"currency"`
	// Micros counts millionths of the currency.
	Micros int64 `doc:"The amount in millionths of it." json:"micros"`
}
