package chat

import (
	"cmp"

	"github.com/spoolhq/spool/wire"
)

// earlyEnds says why a run ended early, by its stop reason. The console says the same.
var earlyEnds = map[wire.StopReason]string{
	wire.StopLength:         "the answer reached the model's limit of tokens",
	wire.StopEmpty:          "the model gave an empty answer",
	wire.StopFilter:         "the provider's filter cut the answer",
	wire.StopUnknown:        "the provider ended the answer with a word that is not known, so it may be cut",
	wire.StopMaxSteps:       "it took as many steps as it may",
	wire.StopRepeated:       "the model made the same call with the same result again and again",
	wire.StopTokenBudget:    "its budget of tokens is used up",
	wire.StopCostBudget:     "its budget of money is used up, or it came to a model without a price",
	wire.StopToolCallBudget: "its budget of tool calls is used up",
	wire.StopTimeBudget:     "its budget of time is used up",
	wire.StopTimeLimit:      "it ran for as long as the server lets a run",
	wire.StopStorageLimit:   "the tenant stores as much as it may",
	wire.StopOutput:         "the answer does not fit the schema",
}

// earlyEnd says why a run ended early. Empty: it did not.
func earlyEnd(reason wire.StopReason) string {
	if reason == wire.StopCompleted || reason == wire.StopSteered {
		return ""
	}
	return cmp.Or(earlyEnds[reason], Clean(string(reason)))
}
