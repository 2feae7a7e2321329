package chat

import (
	"cmp"

	"github.com/spoolhq/spool"
)

// earlyEnds says why a run ended early, by its stop reason. The console says the same.
var earlyEnds = map[spool.StopReason]string{
	spool.StopLength:         "the answer reached the model's limit of tokens",
	spool.StopEmpty:          "the model gave an empty answer",
	spool.StopFilter:         "the provider's filter cut the answer",
	spool.StopUnknown:        "the provider ended the answer with a word that is not known, so it may be cut",
	spool.StopMaxSteps:       "it took as many steps as it may",
	spool.StopRepeated:       "the model made the same call with the same result again and again",
	spool.StopTokenBudget:    "its budget of tokens is used up",
	spool.StopCostBudget:     "its budget of money is used up, or it came to a model without a price",
	spool.StopToolCallBudget: "its budget of tool calls is used up",
	spool.StopTimeBudget:     "its budget of time is used up",
	spool.StopTimeLimit:      "it ran for as long as the server lets a run",
	spool.StopStorageLimit:   "the tenant stores as much as it may",
	spool.StopOutput:         "the answer does not fit the schema",
}

// earlyEnd says why a run ended early. Empty: it did not.
func earlyEnd(reason spool.StopReason) string {
	if reason == spool.StopCompleted || reason == spool.StopSteered {
		return ""
	}
	return cmp.Or(earlyEnds[reason], Clean(string(reason)))
}
