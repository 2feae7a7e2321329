package anthropic

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/spoolhq/spool"
)

// answer turns the provider's events into those of a [spool.Model].
type answer struct {
	model *Model
	emit  func(spool.ModelEvent) error
	// name is the model that the answer was asked of, and modelID the one that answers.
	name, modelID string
	reason        string
	usage         usage

	// open are the blocks that have begun and not ended, by their index.
	open   map[int]*openBlock
	blocks int
	// bytes is the size of what is buffered of the open blocks and of held.
	bytes int
	// inText is true after a text without a [spool.TextEnd].
	inText bool
	// calls is how many calls of the agent's tools have come.
	calls int

	// output is the name of the tool that stands for the output. While the model may still call it, texts
	// are held back, and all that comes after them: they would stand before the value.
	output string
	held   []held
	given  bool
}

func (a *answer) add(data string) error {
	var e event
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		if unknownType(data) {
			return nil
		}
		return a.malformed(data, err)
	}
	if err := a.model.eventError(&e); err != nil {
		return err
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			return a.begin(e.Message)
		}
	case "content_block_start":
		return a.start(e.Index, e.ContentBlock)
	case "content_block_delta":
		return a.delta(e.Index, &e.Delta)
	case "content_block_stop":
		return a.stop(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			a.reason = e.Delta.StopReason
		}
		return a.count(e.Usage)
	case "message_stop":
		return errDone
	}
	return nil
}

// unknownType reports whether an event is JSON of a type that the adapter ignores, whatever its other fields
// are.
func unknownType(data string) bool {
	var e struct {
		Type string `json:"type"`
	}
	if json.Unmarshal([]byte(data), &e) != nil {
		return false
	}
	switch e.Type {
	case "", "error", "message_start", "message_delta", "message_stop", "content_block_start", "content_block_delta", "content_block_stop":
		return false
	default:
		return true
	}
}

func (a *answer) begin(m *message) error {
	if m.Model != "" {
		a.modelID = m.Model
	}
	return a.count(m.Usage)
}

func (a *answer) count(u *usage) error {
	if u == nil {
		return nil
	}
	a.usage.add(u)
	return a.emit(spool.UsageSeen{Usage: a.usage.usage()})
}

// send emits an event, or holds it back behind a text that is held back.
func (a *answer) send(event spool.ModelEvent) error {
	if len(a.held) > 0 {
		return a.hold(held{event: event}, eventSize(event))
	}
	_, a.inText = event.(spool.TextDelta)
	return a.emit(event)
}

// checkBuffer returns an error if too much is buffered.
func (a *answer) checkBuffer() error {
	if a.bytes <= maxBuffered && a.blocks <= maxBlocks {
		return nil
	}
	a.reason = "max_tokens"
	a.open, a.held = nil, nil
	return errBufferFull
}

// finish emits the end of an answer. It returns an error if the provider gave no reason for the end.
func (a *answer) finish() error {
	if a.reason == "" {
		return &spool.ModelError{Message: "the answer ended without a stop reason", Err: io.ErrUnexpectedEOF}
	}
	for len(a.open) > 0 { // a server left out the ends of blocks
		first := -1
		for index := range a.open {
			if first < 0 || index < first {
				first = index
			}
		}
		if err := a.stop(first); err != nil {
			return err
		}
	}
	if err := a.release(); err != nil {
		return err
	}
	return a.emit(spool.Finish{Reason: a.finishReason(), Usage: a.usage.usage(), ModelID: strings.Clone(a.modelID)})
}

// finishReason maps the provider's reason. Unknown words are passed on.
func (a *answer) finishReason() spool.FinishReason {
	switch a.reason {
	case "end_turn", "stop_sequence", "tool_use":
		// The call of the output is none, and some servers say "end_turn" after calls.
		if a.calls > 0 {
			return spool.FinishToolCalls
		}
		return spool.FinishStop
	case "max_tokens", "model_context_window_exceeded":
		return spool.FinishLength
	case "pause_turn":
		return spool.FinishPause
	case "refusal":
		return spool.FinishFilter
	default:
		return spool.FinishReason(a.reason)
	}
}
