package anthropic

import (
	"cmp"
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

var _ spool.Billed = (*Model)(nil)

// LookupWindow returns the context window of a well-known model, found by Config.Model or else by name. A window that
// needs a header has to be configured. It returns zero if neither name is known.
func (m *Model) LookupWindow(name string) int {
	return cmp.Or(knownmodel.Window(m.config.Model), knownmodel.Window(name))
}

// Billing returns how long the cache keeps what a request writes to it, and the service tier that the request or
// Config.Extra asks for.
func (m *Model) Billing(r spool.ModelRequest) spool.Billing {
	b := spool.Billing{Tier: knownmodel.Tier(r.Extra, m.config.Extra)}
	if m.config.Cache == CacheLong {
		b.CacheFor = time.Hour
	}
	return b
}
