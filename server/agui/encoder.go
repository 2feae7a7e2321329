package agui

import (
	"cmp"
	"strconv"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// encoder writes changes as events of the protocol.
//
// Message ids come from the run and the step, and not from the stream's ids of blocks. So a message keeps its
// id when it is saved. A client that gets all messages keeps the known ones at their positions, and appends
// the others.
type encoder struct {
	// clientRunID is the client's id of the run that it has asked for. Empty: it has none.
	clientRunID string
	connect     bool
	before1     bool // see [Options.Before1]
	states      states
	address     Address

	thread spool.ThreadID
	runID  string // of the open run, by the client's id
	// block is the message of the open block.
	block string
	// retracted is the retraction that the next messages follow.
	retracted projection.TakenBack
}

// messageID returns the id of a step's message, which has its text and its calls.
func messageID(run spool.RunID, step int) string {
	return string(run) + ":s" + strconv.Itoa(step)
}

// reasoningID returns the id of the n-th block of reasoning of a step, from 1.
func reasoningID(run spool.RunID, step, n int) string {
	return messageID(run, step) + ":r" + strconv.Itoa(n)
}

// resultID returns the id of the result of a step's call.
func resultID(run spool.RunID, step int, id spool.ToolCallID) string {
	return messageID(run, step) + ":" + string(id)
}

func stepName(step int) string { return "step " + strconv.Itoa(step) }

// append appends the events of a change.
func (e *encoder) append(to []Event, change projection.Change) ([]Event, error) {
	switch c := change.(type) {
	case projection.Delta: // most changes are deltas
		kind := TypeTextContent
		if c.Kind == projection.Reasoning {
			kind = TypeReasoningContent
		}
		return append(to, Delta{kind, e.block, c.Text}), nil
	case projection.RunOpened:
		return append(to, e.runStarted(c)), nil
	case projection.TakenBack:
		e.retracted = c
		return to, nil
	case projection.Messages:
		m, err := e.messages(c)
		return append(to, m), err
	case projection.StepStarted:
		return append(to, StepStarted{stepName(c.Step)}), nil
	case projection.StepSaved:
		return append(to, StepFinished{StepName: stepName(c.Step), Metadata: &Metadata[wire.StepFinished]{c.Finished}}), nil
	case projection.StepLeft:
		return append(to, StepFinished{StepName: stepName(c.Step)}), nil
	case projection.BlockStarted:
		return e.blockStarted(to, c), nil
	case projection.BlockEnded:
		if c.Kind == projection.Text {
			return append(to, Mark{TypeTextEnd, e.block}), nil
		}
		return append(to, Mark{TypeReasoningMessageEnd, e.block}, Mark{TypeReasoningEnd, e.block}), nil
	case projection.CallStarted:
		return append(to, ToolStart{ToolCallID: c.ID, ToolCallName: c.Name, ParentMessageID: messageID(c.Run, c.Step)}), nil
	case projection.CallArgs:
		return append(to, ToolArgs{c.ID, c.Delta}), nil
	case projection.CallEnded:
		if c.Whole {
			to = append(to, ToolArgs{c.ID, argsText(c.Args)})
		}
		return append(to, ToolEnd{c.ID}), nil
	case projection.CallResult:
		return append(to, ToolResult{resultID(c.Run, c.Step, c.ID), c.ID, resultText(c.Result), spool.RoleTool}), nil
	case projection.Cited:
		return append(to, custom(string(wire.ItemSource), mustJSON(citedOf(c)))), nil
	case projection.FileMade:
		return append(to, custom(string(wire.ItemFile),
			mustJSON(fileEvent{messageID(c.Run, c.Step), e.address.file(e.thread, c.FileShown)}))), nil
	case projection.Asked:
		return append(to, nestedCalls(c.Parks)...), nil
	case projection.StateChanged:
		return append(to, e.states.change(ThreadState(c.ThreadState))...), nil
	case projection.Nested: // a client does not get the messages of nested runs
		return append(to, custom(string(c.Item.Type), c.Item.Data)), nil
	case projection.Custom:
		event := custom(c.Name, c.Value)
		if c.Published {
			event = event.publishedBy(c.PublishedBy, c.PublishedByTool)
		}
		return append(to, event), nil
	case projection.Steered:
		return append(to, custom(string(wire.EntrySteered), c.Payload)), nil
	case projection.SegmentFailed:
		return append(to, custom(string(wire.EntryRunEnded), c.Payload)), nil
	case projection.RunEnded:
		return append(to, e.runEnded(c)), nil
	default:
		return to, nil
	}
}

func (e *encoder) runStarted(c projection.RunOpened) RunStarted {
	e.thread, e.runID = c.Thread, string(c.Run)
	if c.Asked && e.clientRunID != "" {
		e.runID = e.clientRunID
	}
	started := RunStarted{ThreadID: c.Thread, RunID: e.runID, ProtocolVersion: Version}
	if e.runID != string(c.Run) {
		started.Metadata = &Metadata[OwnRun]{OwnRun{c.Run}}
	}
	return started
}

func (e *encoder) blockStarted(to []Event, c projection.BlockStarted) []Event {
	if c.Kind == projection.Text {
		e.block = messageID(c.Run, c.Step)
		return append(to, TextStart{e.block, spool.RoleAssistant})
	}
	e.block = reasoningID(c.Run, c.Step, c.N)
	return append(to, Mark{TypeReasoningStart, e.block}, ReasoningMessageStart{e.block, string(roleReasoning)})
}

// messages returns the messages of a change, including those that are not saved.
func (e *encoder) messages(c projection.Messages) (Messages, error) {
	m := Messages{c.Saved()}
	if c.Streamed != nil {
		streamed, _ := c.Streamed.Form.(unfinished) // the form of this package
		m = m.and(streamed)
	}
	var more []Message
	for _, r := range c.Given {
		more = append(more, Message{
			ID: resultID(c.By.ID, c.By.Steps, r.ToolCallID), Role: spool.RoleTool, Content: resultText(r.Payload),
			ToolCallID: r.ToolCallID,
		})
	}
	if e.retracted.Reasonings > 0 && !m.reason() {
		// A client keeps its messages of reasoning if it gets messages without any reasoning.
		for n := range e.retracted.Reasonings {
			more = append(more, Message{
				ID: reasoningID(e.retracted.Run, e.retracted.Step, n+1), Role: roleReasoning, Content: "",
			})
		}
	}
	e.retracted = projection.TakenBack{}
	text, err := appendMessages(nil, more)
	return m.and(text), err
}

// runEnded returns the event that closes a run.
func (e *encoder) runEnded(c projection.RunEnded) Event {
	end := RunFinished{
		ThreadID: c.Thread, RunID: e.runID, Outcome: Outcome{Type: OutcomeSuccess}, Usage: counts(c.Usage),
		Metadata: markOf(c.Expired),
	}
	old := c.Old && e.connect // the state says how it ended
	switch {
	case c.Outcome == projection.Left:
		return RunError{
			Message: "The server is shutting down. The run goes on: connect again to see the rest.", Code: CodeServerGone,
		}
	case c.Outcome == projection.Failed && !old:
		return RunError{
			Message: cmp.Or(c.State.Error, "the run failed"), Code: string(c.State.StopReason), Usage: counts(c.Usage),
			Metadata: markOf(c.Expired),
		}
	case c.Outcome == projection.Cancelled && !old && e.before1:
		end.Result = &Result{FinishReason: cmp.Or(c.State.StopReason, wire.StopCancelled)}
	case c.Outcome == projection.Cancelled && !old:
		end.Outcome.Type = OutcomeCancelled
	case c.Outcome == projection.Waits:
		if questions := interrupts(c.Parks); len(questions) > 0 {
			end.Outcome = Outcome{Type: OutcomeInterrupt, Interrupts: questions}
		} else { // only calls of the client's tools wait
			end.Result = &Result{FinishReason: finishClientTool}
		}
	case c.State.StopReason != "":
		end.Result = &Result{FinishReason: c.State.StopReason, Output: c.Output}
	}
	return end
}

// counts returns the usage as a list with one element, or an empty list if nothing was counted.
func counts(usage *spool.TokenCount) []spool.TokenCount {
	if usage == nil || *usage == (spool.TokenCount{}) {
		return nil
	}
	return []spool.TokenCount{*usage}
}

// finishClientTool is the finish reason of a run that waits for the client to execute its tools.
const finishClientTool wire.StopReason = wire.ParkClientTool
