package spool

import (
	"cmp"
	"time"
)

// Described is a [Model] that says what it is. A model that stands before another one passes the facts on with
// [InfoOf].
type Described interface {
	// Describe returns the facts. They are the same at each call.
	Describe() ModelInfo
}

// ModelInfo is what a [Described] says of itself. The zero value is a model that says nothing.
type ModelInfo struct {
	// Provider is OpenTelemetry's name for the provider, such as "openai". Empty: not known.
	Provider string
	// Model is the provider's name of the model. Empty: not known.
	Model string
	// ContextWindow is how many tokens a prompt and its answer may have together. Zero: not known.
	ContextWindow int
	// KnownWindow returns the ContextWindow of a well-known model by its name, or zero for another name. The engine
	// calls it if neither ContextWindow nor the configuration knows the window: see [ModelInfo.Window]. Nil: no
	// model is known.
	KnownWindow func(name string) int
	// ReceiptCurrency is the currency of the costs that the provider reports with each answer, such as "USD": a budget
	// of money then holds without a price. Empty: the provider reports none.
	ReceiptCurrency string
	// Billing returns what the price of a request depends on besides its tokens. Tier is the provider's service tier,
	// such as "flex", "priority" or "batch", or "" for the standard one. CacheFor is how long the provider keeps the
	// tokens that the request writes to its cache, or zero for as long as by default. Nil: all requests have the
	// standard tier and the default time.
	Billing func(r ModelRequest) (tier string, cacheFor time.Duration)
}

// InfoOf returns what the model says of itself: nothing, unless it is a [Described].
func InfoOf(m Model) ModelInfo {
	if m, ok := m.(Described); ok {
		return m.Describe()
	}
	return ModelInfo{}
}

// Window returns the size of the model's window: its ContextWindow, or else the configured one, or else what
// KnownWindow returns for Model or for name, the engine's name of the model. Zero: not known.
func (i ModelInfo) Window(name string, configured int) int {
	if window := cmp.Or(max(i.ContextWindow, 0), max(configured, 0)); window > 0 || i.KnownWindow == nil {
		return window
	}
	return max(cmp.Or(i.KnownWindow(i.Model), i.KnownWindow(name)), 0)
}
