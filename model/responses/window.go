package responses

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

var _ spool.Described = (*Model)(nil)

// Describe implements [spool.Described]. The provider is "openai", also for other servers with OpenAI's interface. The
// service tier is the one that the request or Config.Extra asks for.
func (m *Model) Describe() spool.ModelInfo {
	return spool.ModelInfo{
		Provider: "openai", Model: m.config.Model,
		ContextWindow: m.config.ContextWindow, KnownWindow: knownmodel.Window,
		Billing: func(r spool.ModelRequest) (string, time.Duration) {
			return knownmodel.Tier(r.Extra, m.config.Extra), 0
		},
	}
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
