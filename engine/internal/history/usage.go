package history

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/record"
)

// UsageOf says how full a room is with the thread's history. It reads the messages behind the last
// count of a provider. It reads all of them where nothing was counted, or where the counted message
// is not there any more.
func UsageOf(v spool.View, run spool.RunRow, to Limits) (spool.ContextUsage, error) {
	u := spool.ContextUsage{BudgetTokens: to.Budget, CompactAtTokens: to.At}
	newest, err := v.UsageRows(spool.UsageQuery{Agent: &record.MainAgent, Kind: spool.UsageStep, Counted: true, Last: true, Limit: 1})
	if err != nil {
		return u, err
	}
	for _, row := range newest {
		u.UsedTokens = row.Usage.Count().TotalTokens
	}
	q := spool.MessageQuery{Agent: &record.MainAgent}
	counted := run.Context
	if counted != nil {
		switch _, err := v.Message(counted.LastMessageID); {
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
			continue // the answer that was counted
		}
		u.UsedTokens += m.Part(weighMessage(msg))
	}
	return u, nil
}
