package agent

import (
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/history"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// allSteps is the end of a run that has had all its steps.
var allSteps = store.Ending{State: wire.Completed, Reason: wire.StopMaxSteps}

// finalText asks for the answer behind the last step. It also stops models whose servers ignore
// [spool.ModelRequest.NoCalls].
const finalText = "You have used all your steps, so you cannot call a tool any more. Answer now with what you know, and say what is missing."

// request returns the request for a history.
func (l *asker) request(messages []spool.Message) spool.ModelRequest {
	r := l.agent.Request(l.run, messages)
	r.NoCalls = l.final
	return r
}

// withPrompts returns the messages with the prompts that only the model sees: that of a repair, and that for the answer
// behind the last step. Every worker adds the same ones. An answer that its provider has paused or a budget has cut goes
// on without a prompt: its parts become one message, and may be signed together.
func (l *asker) withPrompts(messages []spool.Message) ([]spool.Message, history.Weight) {
	messages, w := l.withRepair(messages)
	if !l.final || len(messages) > 0 && messages[len(messages)-1].Role == spool.RoleAssistant {
		return messages, w
	}
	last := spool.Message{Role: spool.RoleUser, Content: spool.TextContent(finalText)}
	w.Add(history.Weigh(spool.ModelRequest{Messages: []spool.Message{last}}))
	return append(slices.Clip(messages), last), w
}

// givenUp returns how a run ends whose step has failed for good. The answer behind the last step is no step: what the
// steps have done is not lost without it.
func (l *runState) givenUp(reason string) store.Ending {
	if l.final {
		return allSteps
	}
	return store.Ending{State: wire.Failed, Reason: wire.StopFailed, Error: reason}
}
