package gemini

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

var _ spool.Described = (*Model)(nil)

// Describe implements [spool.Described]. The provider is OpenTelemetry's name for the Gemini API. The service tier is
// the one that the request or Config.Extra asks for.
func (m *Model) Describe() spool.ModelInfo {
	return spool.ModelInfo{
		Provider: "gcp.gemini", Model: m.config.Model,
		ContextWindow: m.config.ContextWindow, KnownWindow: knownmodel.Window,
		Billing: func(r spool.ModelRequest) (string, time.Duration) {
			return knownmodel.Tier(r.Extra, m.config.Extra), 0
		},
	}
}

// baseName returns the name of a model without "models/" or a vendor before it.
func baseName(model string) string { return model[strings.LastIndexByte(model, '/')+1:] }

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
