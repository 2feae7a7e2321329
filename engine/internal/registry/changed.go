package registry

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
)

// ChangedTools compares two lists of a source. It returns the names of the tools that only the second one has, that
// only the first one has, and whose description, schema or approval differ. A list that cannot be read has no tools.
func ChangedTools(source spool.ToolSource, before, now json.RawMessage) (added, removed, changed []string) {
	was, err := toolsOf(source, before)
	if err != nil {
		was = nil
	}
	is, err := toolsOf(source, now)
	if err != nil {
		is = nil
	}
	named := func(tools []spool.Tool, name string) int {
		return slices.IndexFunc(tools, func(t spool.Tool) bool { return t.Name == name })
	}
	for _, t := range is {
		switch i := named(was, t.Name); {
		case i < 0:
			added = append(added, t.Name)
		case was[i].Description != t.Description || !bytes.Equal(was[i].Parameters, t.Parameters) ||
			(was[i].Approval == nil) != (t.Approval == nil):
			changed = append(changed, t.Name)
		}
	}
	for _, t := range was {
		if named(is, t.Name) < 0 {
			removed = append(removed, t.Name)
		}
	}
	return added, removed, changed
}
