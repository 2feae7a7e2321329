package store

import (
	"encoding/json"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Effect is a row of the ledger of side effects: one per tool call that was allowed to execute. It is written
// before the call and completed after it. So a call that is still pending when its worker has died has an
// unknown outcome.
type Effect struct {
	RunID      spool.RunID
	Step       int
	ToolCallID spool.ToolCallID
	State      wire.EffectState
	// Result is the tool's result, once State is [wire.EffectDone].
	Result json.RawMessage
}
