package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/tokenguess"
)

const (
	// manyTools is how many tools some providers take in a request.
	manyTools = 128
	// shareOfWindow is which part of a model's window the tools of a request may take before a person is warned.
	shareOfWindow = 10
)

// crowded returns a warning for each agent and subagent whose tools are too many, or too large for its model's window.
// The tools of MCP servers are not known before a run.
func (s *setup) crowded() (warnings []string) {
	for _, a := range s.engine.Agents {
		warnings = append(warnings, s.crowdedBy("agent "+a.Name, a.Tools, a.Model))
		if a.Spawn == nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(a.Spawn.Profiles)) {
			p := a.Spawn.Profiles[name]
			warnings = append(warnings, s.crowdedBy("subagent "+name+" of "+a.Name, p.Tools, cmp.Or(p.Model, a.Model)))
		}
	}
	return slices.DeleteFunc(warnings, func(text string) bool { return text == "" })
}

// crowdedBy returns the warning for a list of tools, or "".
func (s *setup) crowdedBy(who string, tools []spool.Tool, model string) string {
	n, tokens := 0, int64(0)
	for i := range tools {
		if t := &tools[i]; !t.Search {
			n++
			tokens += tokenguess.Of(t.Name) + tokenguess.Of(t.Description) + tokenguess.Of(string(t.Parameters))
		}
	}
	var reasons []string
	if n > manyTools {
		reasons = append(reasons, fmt.Sprintf("more than the %d that some providers take", manyTools))
	}
	if window := int64(spool.InfoOf(s.engine.Models[model]).Window(model, 0)); window > 0 &&
		tokens > window/shareOfWindow {
		reasons = append(reasons, fmt.Sprintf("%d %% of the window of %s", tokens*100/window, model))
	}
	if len(reasons) == 0 {
		return ""
	}
	return fmt.Sprintf("%s sends %s of about %d tokens with each request, %s: let the model find them by search: true, or leave some out by except:",
		who, counted(n, "tool"), (tokens+50)/100*100, strings.Join(reasons, " and "))
}
