package registry

import (
	"testing"

	"github.com/spoolhq/spool"
)

// TestCatalogueShared narrows an agent with a catalogue for runs. Those that may use all tools share one catalogue, and so
// its index. One that may not has a catalogue of its own.
func TestCatalogueShared(t *testing.T) {
	t.Parallel()

	c := resolved()
	for i := range c.Agents[0].Tools {
		c.Agents[0].Tools[i].Search = true
	}
	_, a := made(t, c)
	run := func(scopes ...string) *Agent {
		return a.Permitted(spool.RunRow{RunState: spool.RunState{Scopes: scopes}})
	}
	all := run("a").Catalogue
	if all == nil || run("b").Catalogue != all {
		t.Error("each run has a catalogue of its own")
	}
	own := run("other").Catalogue
	if own == nil || own == all || len(own.Fresh([]string{"send", "look"}, nil)) != 1 || len(all.Fresh([]string{"send", "look"}, nil)) != 2 {
		t.Errorf("the catalogue without send finds %q", own.Fresh([]string{"send", "look"}, nil))
	}
}
