package openai

import (
	"cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

var (
	_ spool.Billed       = (*Model)(nil)
	_ spool.WindowLookup = (*Model)(nil)
)

// LookupWindow returns the context window of a well-known model, found by Config.Model or else by name.
// It returns zero if neither is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(knownmodel.Window(m.config.Model), knownmodel.Window(name))
}

// Billing returns the service tier that the request or Config.Extra asks for.
func (m *Model) Billing(r spool.ModelRequest) spool.Billing {
	return spool.Billing{Tier: knownmodel.Tier(r.Extra, m.config.Extra)}
}
