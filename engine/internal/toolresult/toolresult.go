// Package toolresult makes what the model reads about a tool call that did not simply return, such as
// an error, a denial or a cancellation, and the parts of a message that a result becomes. It is pure.
package toolresult

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

// Part returns the part of a tool message that contains a result.
func Part(id spool.ToolCallID, name string, result json.RawMessage) spool.Part {
	return spool.Part{Type: spool.PartToolResult, ToolCallID: id, ToolName: name, Result: result}
}

// Parts returns the parts of a tool message that a result becomes: the result, and the sources that it names.
func Parts(id spool.ToolCallID, name string, result json.RawMessage) spool.Content {
	parts := spool.Content{Part(id, name, result)}
	for _, s := range citation.InResult(result) {
		parts = append(parts, spool.SourcePart(s, id))
	}
	return parts
}

// Resulted returns the fields of the item that announces a result.
func Resulted(id spool.ToolCallID, name string, result json.RawMessage) wire.ToolResulted {
	return wire.ToolResulted{ToolCallID: id, ToolName: name, Result: result, Sources: citation.InResult(result)}
}

// Effect says whether a cancelled call may have had an effect.
type Effect string

const (
	// NoEffect is the effect of a call that had not begun.
	NoEffect Effect = ""
	// MaybeEffect is the effect of a call that had begun. Nobody knows what the call has done, or will still do.
	MaybeEffect Effect = "unknown"
)

// EffectOf returns the effect of a cancelled call.
func EffectOf(begun bool) Effect {
	if begun {
		return MaybeEffect
	}
	return NoEffect
}

// Cancelled returns the result of a cancelled call.
func Cancelled(reason string, outcome Effect) json.RawMessage {
	return JSON(struct {
		Cancelled bool   `json:"cancelled"`
		Reason    string `json:"reason"`
		Outcome   Effect `json:"outcome,omitempty"`
	}{true, reason, outcome})
}

// CancelledBy returns the result of a call that was cancelled because its run ended.
func CancelledBy(ending store.Ending, outcome Effect) json.RawMessage {
	switch ending.State {
	case wire.Cancelled:
		return Cancelled("stopped", outcome)
	case wire.Completed: // a limit ended the run
		return Cancelled(string(ending.Reason), outcome)
	default:
		return Cancelled("failed", outcome)
	}
}

// Error returns the result of a call that failed in its step.
func Error(text string) json.RawMessage { return JSON("error: " + text) }

// LateError returns the result of a call that failed after its park.
func LateError(text string) json.RawMessage { return JSON(map[string]string{"error": text}) }

// Failed reports whether a result is one of [Error] or [LateError], also of a call that a person approved or that was
// cut off.
func Failed(result json.RawMessage) bool {
	var text string
	if json.Unmarshal(result, &text) == nil {
		return strings.HasPrefix(text, "error: ")
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(result, &fields) != nil || json.Unmarshal(fields["error"], &text) != nil {
		return false
	}
	_, cut := fields["outcome"]
	_, whole := fields["result"]
	return len(fields) == 1 || cut || string(fields["approved"]) == "true" && !whole
}

// Refused returns the result of a call beyond the budget, in a run whose budget was raised later.
func Refused() json.RawMessage {
	return Error("the run's budget of tool calls was used up, and this call did not run")
}

// Expired returns the result of a call whose park expired.
func Expired(p store.Park) json.RawMessage {
	if p.Reason == wire.ParkOutcomeUnknown {
		return JSON(struct {
			Error   string `json:"error"`
			Outcome Effect `json:"outcome"`
		}{"the call was cut off, and whether it took effect is not known", MaybeEffect})
	}
	return json.RawMessage(`{"responded":false,"cancelled":true,"reason":"timeout"}`)
}

// Denied returns the result of a call that a person denied.
func Denied(a *spool.Answer) json.RawMessage {
	return JSON(struct {
		Denied bool   `json:"denied"`
		Reason string `json:"reason,omitempty"`
	}{true, a.Reason})
}

// Reported returns the result of a call whose worker died and that must not be repeated: the outcome
// that a person reported, if any.
func Reported(a *spool.Answer) json.RawMessage {
	if a.Payload != nil {
		return withReason(a.Reason, a.Payload)
	}
	text := "the outcome of this call is not known, and it is not to be repeated"
	if a.Reason != "" {
		text = fmt.Sprintf("%s: %s", text, a.Reason)
	}
	return Cancelled(text, MaybeEffect)
}

// Client returns the result of a call that the client executed.
func Client(a *spool.Answer) json.RawMessage {
	if a.Payload == nil {
		return withReason(a.Reason, json.RawMessage("null"))
	}
	return withReason(a.Reason, a.Payload)
}

func withReason(reason string, result json.RawMessage) json.RawMessage {
	if reason == "" {
		return result
	}
	return JSON(struct {
		Reason string          `json:"reason"`
		Result json.RawMessage `json:"result"`
	}{reason, result})
}

// JSON returns the JSON of a value. It panics if the value has none.
func JSON(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("toolresult: encode: " + err.Error())
	}
	return b
}
