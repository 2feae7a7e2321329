package memory

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Usage returns rows or sums of the ledger.
func (v *view) Usage(q wire.UsageQuery) (wire.UsageReport, error) {
	if q.Sums {
		return wire.UsageReport{Sums: v.data.usageSums()}, nil
	}
	return wire.UsageReport{Rows: v.data.usageRows(q)}, nil
}

// usageSums sums the ledger. Rows with the same two model names form one line.
func (d *threadData) usageSums() []wire.UsageLine {
	type group struct {
		agentID                         spool.AgentID
		agent, model, modelID, currency string
	}
	lines := []wire.UsageLine{}
	at := make(map[group]int)
	for _, row := range d.usage {
		g := group{row.AgentID, row.Agent, row.Model, row.ModelID, ""}
		if row.Cost != nil {
			g.currency = row.Cost.Currency
		}
		i, ok := at[g]
		if !ok {
			i = len(lines)
			at[g] = i
			line := wire.UsageLine{AgentName: row.Agent, Model: row.Model, ModelID: row.ModelID, Currency: g.currency}
			if row.AgentID != "" {
				line.AgentID = &g.agentID
			}
			lines = append(lines, line)
		}
		lines[i].Add(row)
	}
	return lines
}

// usageRows returns rows of the ledger.
func (d *threadData) usageRows(q wire.UsageQuery) []wire.UsageRow {
	found := []wire.UsageRow{}
	for _, row := range d.usage {
		switch {
		case q.Run != "" && row.RunID != q.Run,
			q.Agent != nil && row.AgentID != *q.Agent,
			q.Kind != "" && row.Kind != q.Kind,
			q.Counted && row.Usage.Input == nil:
		default:
			found = append(found, cloneUsageRow(row))
		}
	}
	if q.Last {
		slices.Reverse(found)
	}
	return found[:bounded(len(found), q.Limit)]
}
