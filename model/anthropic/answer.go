package anthropic

import (
	"io"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/finishword"
)

// done is the last event of servers that end every stream like OpenAI's.
const done = "[DONE]"

// answer turns the provider's events into those of a [spool.Model].
type answer struct {
	model *Model
	emit  func(spool.ModelEvent) error
	// name is the model that the answer was asked of, and modelID the one that answers.
	name, modelID string
	// tools are the names of the tools that the model may call.
	tools  []string
	reason string
	usage  usage

	read event // reused for each event
	// begun is true after the start of the message, and sent after the first event for the engine that is no usage.
	begun, sent bool

	// open are the blocks that have begun and not ended, by their index.
	open   map[int64]*openBlock
	blocks int
	// last is the index of the block that began last.
	last int64
	// bytes is the size of what is buffered of the open blocks and of held.
	bytes int
	// inText is true after a text without a [spool.TextEnd].
	inText bool
	// text counts what was emitted.
	text *citation.Text
	// calls is how many calls of the agent's tools have come, and ids are their ids.
	calls int
	ids   map[spool.ToolCallID]bool

	// output is the name of the tool that stands for the output. While the model may still call it, texts
	// are held back, and all that comes after them: they would stand before the value.
	output      string
	held        []held
	outputEnded bool
}

func (a *answer) add(data string) error {
	if data == done {
		return errDone
	}
	e := &a.read
	if err := e.parse(data); err != nil {
		return a.malformed(data, err)
	}
	if err := a.model.eventError(e); err != nil {
		return err
	}
	index := a.last
	if e.Index.N != nil {
		index = *e.Index.N
	}
	switch e.Type {
	case "message_start":
		if err := a.restart(); err != nil || e.Message == nil {
			return err
		}
		return a.begin(e.Message)
	case "content_block_start":
		if e.Index.N == nil {
			index = int64(a.blocks)
		}
		return a.start(index, e.ContentBlock)
	case eventDelta:
		return a.delta(index, &e.delta)
	case "content_block_stop":
		return a.stop(index)
	case eventMessageDelta:
		if e.delta.StopReason != "" {
			a.reason = strings.Clone(e.delta.StopReason)
		}
		return a.count(e.Usage)
	case "message_stop":
		return errDone
	}
	return nil
}

// restart prepares for an answer that begins anew, as gateways let it that ask another server after a failure. What the
// engine has of the first answer cannot be taken back, so then the engine has to ask again.
func (a *answer) restart() error {
	if !a.begun {
		a.begun = true
		return nil
	}
	if a.sent {
		return &spool.ModelError{Message: "the provider began the answer again after a part of it"}
	}
	a.open, a.held, a.bytes = nil, nil, 0
	a.reason, a.calls, a.outputEnded = "", 0, false
	return nil
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
	a.sent = true
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
		first := int64(-1)
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
	reason, err := a.finishReason()
	if err != nil {
		return err
	}
	return a.emit(spool.Finish{Reason: reason, Usage: a.usage.usage(), ModelID: strings.Clone(a.modelID)})
}

// finishReason maps the provider's reason. An unknown word is passed on, unless there are calls: they are whole.
func (a *answer) finishReason() (spool.FinishReason, error) {
	switch a.reason {
	case "pause_turn", "compaction": // a pause after a compaction has the second word
		return spool.FinishPause, nil
	}
	class := finishword.Of(a.reason)
	switch {
	case class == finishword.Limit:
		return spool.FinishLength, nil
	case class == finishword.Filter:
		return spool.FinishFilter, nil
	case class == finishword.Broken:
		word := a.model.secrets.Clean(a.reason)
		return "", &spool.ModelError{Type: word, Message: "the answer ended with " + word}
	case a.calls > 0: // not counting the output's call; some servers say "end_turn" after calls
		return spool.FinishToolCalls, nil
	case class == finishword.Unknown:
		return spool.FinishReason(a.reason), nil
	}
	return spool.FinishStop, nil
}
