package openai

import (
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

var _ spool.Described = (*Model)(nil)

// Describe implements [spool.Described]. The provider is "openai", also for other servers with OpenAI's interface. The
// service tier is the one that the request or Config.Extra asks for.
func (m *Model) Describe() spool.ModelInfo {
	info := spool.ModelInfo{
		Provider: "openai", Model: m.config.Model,
		ContextWindow: m.config.ContextWindow, KnownWindow: knownmodel.Window,
		Billing: func(r spool.ModelRequest) (string, time.Duration) {
			return knownmodel.Tier(r.Extra, m.config.Extra), 0
		},
	}
	if m.config.ReceiptCurrency != none {
		info.ReceiptCurrency = m.config.ReceiptCurrency
	}
	return info
}
