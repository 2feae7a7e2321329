package wire

// Money is a sum in one currency.
type Money struct {
	Currency string `example:"USD" json:"currency"` // The currency.
	// Micros are the amount in millionths of it.
	Micros int64 `json:"micros"`
}
