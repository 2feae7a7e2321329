package gemini

import (
	"cmp"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

// baseName returns the name of a model without "models/" or a vendor before it.
func baseName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

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

// old reports whether the model is of Gemini 1 or 2, or a Gemma. Old models accept calls without a signature, and
// refuse an output schema together with functions, and media inside a function response. A model
// with an unknown name counts as new.
func old(model string) bool {
	name := baseName(model)
	for _, prefix := range []string{"gemini-1.", "gemini-1-", "gemini-2.", "gemini-2-", "gemma-", "learnlm-"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
