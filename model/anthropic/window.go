package anthropic

import (
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/knownmodel"
)

const usualOutput = 32_000

// outputs maps prefixes of older models' names to the bounds of their answers. The longest prefix wins.
var outputs = map[string]int{
	"claude-3-":     4_096,
	"claude-3-5-":   8_192,
	"claude-3-7-":   usualOutput,
	"claude-2":      4_096,
	"claude-instan": 4_096,
}

// knownOutput returns the default bound of an answer.
func knownOutput(name string) int {
	name = knownmodel.Plain(name)
	best, most := 0, usualOutput
	for prefix, size := range outputs {
		if len(prefix) > best && strings.HasPrefix(name, prefix) {
			best, most = len(prefix), size
		}
	}
	return most
}

// Describe implements [spool.Described]. The provider is "anthropic", also for other servers with its interface. A
// window that needs a header has to be configured. The service tier is the one that the request or Config.Extra asks
// for.
func (m *Model) Describe() spool.ModelInfo {
	return spool.ModelInfo{
		Provider: "anthropic", Model: m.config.Model,
		ContextWindow: m.config.ContextWindow, KnownWindow: knownmodel.Window,
		Billing: m.billing,
	}
}

func (m *Model) billing(r spool.ModelRequest) (tier string, cacheFor time.Duration) {
	if m.config.Cache == CacheLong {
		cacheFor = time.Hour
	}
	return knownmodel.Tier(r.Extra, m.config.Extra), cacheFor
}
