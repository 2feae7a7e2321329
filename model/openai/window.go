package openai

import (
	"cmp"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

var _ spool.WindowLookup = (*Model)(nil)

// LookupWindow returns the context window of a well-known model, found by Config.Model or else by name.
// It returns zero if neither is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(openaiwire.KnownWindow(m.config.Model), openaiwire.KnownWindow(name))
}
