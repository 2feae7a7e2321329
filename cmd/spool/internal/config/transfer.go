package config

import (
	"slices"

	"github.com/spoolhq/spool"
)

// transfers reads the agents that the thread can be handed to. Agents has all agents of the file.
func transfers(v value, own string, agents []entry) map[string]spool.Transfer {
	var all map[string]spool.Transfer
	for _, e := range v.entries() {
		f := e.fields("description", "history")
		switch {
		case e.name == own:
			e.problemf("is the agent itself")
		case !slices.ContainsFunc(agents, func(a entry) bool { return a.name == e.name }):
			e.problemf("there is no agent %q", e.name)
		}
		t := spool.Transfer{Description: f["description"].text(), History: spool.TransferHistory(f["history"].text())}
		f["history"].among(string(t.History), string(spool.TransferAll), string(spool.TransferBrief))
		if all == nil {
			all = make(map[string]spool.Transfer)
		}
		all[e.name] = t
	}
	return all
}
