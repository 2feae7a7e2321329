package responses

import (
	"cmp"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

var (
	_ spool.Billed       = (*Model)(nil)
	_ spool.Windowed     = (*Model)(nil)
	_ spool.WindowLookup = (*Model)(nil)
)

// ContextWindow returns the size of the configured context window in tokens. Zero: not known.
func (m *Model) ContextWindow() int { return m.config.ContextWindow }

// LookupWindow returns the context window of a well-known model, found by Config.Model or else by name.
// It returns zero if neither is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(knownmodel.Window(m.config.Model), knownmodel.Window(name))
}

// Billing returns the service tier that the request or Config.Extra asks for.
func (m *Model) Billing(r spool.ModelRequest) spool.Billing {
	return spool.Billing{Tier: knownmodel.Tier(r.Extra, m.config.Extra)}
}

// knownNotToReason reports whether OpenAI's model of this name does not reason. It then refuses to encrypt
// its reasoning: "Encrypted content is not supported with this model".
func knownNotToReason(name string) bool {
	if at := strings.LastIndexByte(name, '/'); at >= 0 {
		name = name[at+1:]
	}
	for _, prefix := range []string{"gpt-3.5", "gpt-4", "chatgpt-4"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}
