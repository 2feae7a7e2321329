package history

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// UsageOf returns how much of the limits the thread's history uses. It reads the messages after the
// provider's last count. It reads all messages if the provider has not counted yet or the counted
// message no longer exists.
func UsageOf(v store.View, run store.RunRow, to Limits) (wire.ContextUsage, error) {
	u := wire.ContextUsage{BudgetTokens: to.Budget, CompactAtTokens: to.At}
	newest, err := v.Usage(wire.UsageQuery{
		Agent: &record.MainAgent, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1,
	})
	if err != nil {
		return u, err
	}
	for _, row := range newest.Rows {
		u.UsedTokens = row.Usage.Count().TotalTokens
	}
	q := store.MessageQuery{Agent: &record.MainAgent}
	counted := run.Context
	if counted != nil {
		switch _, err := store.FindMessage(v, counted.LastMessageID); {
		case record.Missing(err):
			counted = nil
		case err != nil:
			return u, err
		default:
			q.After = counted.LastMessageID
		}
	}
	since, err := v.Messages(q)
	if err != nil || counted == nil {
		u.Messages = len(since)
		return u, err
	}
	u.Messages = counted.Messages + len(since)
	u.UsedTokens = counted.Tokens + counted.Answer
	m := NewMeter(counted)
	for i, msg := range since {
		if i == 0 && msg.Role == spool.RoleAssistant && counted.Answer > 0 {
			continue // the count includes this answer
		}
		u.UsedTokens += m.Part(weighMessage(msg))
	}
	return u, nil
}
