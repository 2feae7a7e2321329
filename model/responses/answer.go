package responses

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/openaiwire"
)

const (
	// maxBuffered bounds the size of the items that are buffered, because the engine can bound only what it
	// has seen. itemWeight is the size of an item without its content.
	maxBuffered = 8 << 20
	itemWeight  = 4 << 10
)

// errBufferFull ends an answer when it exceeds maxBuffered.
var errBufferFull = errors.New("the answer is too long")

// answer turns the events of a response into those of a model. It outlives a connection that breaks.
type answer struct {
	model *Model
	conn  *openaiwire.Conn
	emit  func(spool.ModelEvent) error

	// background is true if the provider goes on with the answer by itself.
	background bool
	// resumed is true if the engine knows the answer already.
	resumed bool
	// id is the response's, and after the number of its last event that was read. -1: none.
	id    string
	after int64
	// again is true after a connection broke. Then events may come twice.
	again bool

	read    event // reused for each event
	modelID string
	items   map[int]*item
	ids     map[spool.ToolCallID]bool
	bytes   int
	// inText is true while a block of text is open.
	inText          bool
	called, refused bool
	finished        bool
}

// item is an item of the answer, by its index.
type item struct {
	output

	id   spool.ToolCallID
	args strings.Builder
	// said is how many bytes of the text were emitted, and summary the part that the last of them belong to.
	said, summary int
	done          bool
}

// add handles an event.
func (a *answer) add(data string) error {
	if err := a.read.parse(data); err != nil {
		return &cutError{&spool.ModelError{Message: "malformed event: " + a.conn.Clean(data), Err: err}}
	}
	e := &a.read
	if e.Sequence != nil {
		if a.again && *e.Sequence <= a.after {
			return nil
		}
		a.after = *e.Sequence
	}
	switch e.Type {
	case "response.created", "response.queued", "response.in_progress":
		return a.begin(e.Response)
	case "response.output_item.added":
		return a.added(e.OutputIndex, e.Item)
	case "response.output_text.delta", "response.refusal.delta":
		a.refused = a.refused || e.Type == "response.refusal.delta"
		return a.say(a.at(e.OutputIndex), string(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.reason(a.at(e.OutputIndex), e.SummaryIndex, string(e.Delta))
	case "response.function_call_arguments.delta":
		return a.argue(a.at(e.OutputIndex), string(e.Delta))
	case "response.output_item.done":
		return a.done(e.OutputIndex, e.Item)
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		if e.Response == nil {
			return &cutError{&spool.ModelError{Message: "malformed event: " + a.conn.Clean(data)}}
		}
		return a.end(e.Response)
	case "error":
		return a.failure(e.Failure)
	}
	return nil
}

// begin remembers the response. The engine learns of one that another process can come back to.
func (a *answer) begin(r *response) error {
	if r == nil || r.ID == "" {
		return nil
	}
	if r.Model != "" {
		a.modelID = r.Model
	}
	if !a.background {
		return nil
	}
	if !validID.MatchString(r.ID) { // it is part of the URLs of later requests
		return &spool.ModelError{Message: "the provider gave the response an id that cannot be used"}
	}
	known := a.id != ""
	a.id = r.ID
	if known {
		return nil
	}
	return a.emit(spool.ResumePoint{Data: a.point()})
}

// at returns the item with an index.
func (a *answer) at(index int) *item {
	it := a.items[index]
	if it == nil {
		it = new(item)
		a.items[index] = it
		a.bytes += itemWeight
	}
	return it
}

func (a *answer) added(index int, raw json.RawMessage) error {
	it := a.at(index)
	if it.Type != "" || json.Unmarshal(raw, &it.output) != nil {
		return a.checkBuffer()
	}
	if it.Type == "message" && a.inText {
		if err := a.send(spool.TextEnd{}); err != nil { // the text of the message before it is another block
			return err
		}
	}
	if it.Type == "function_call" {
		return a.start(it)
	}
	return a.checkBuffer()
}

// send emits an event that is not a piece of a text.
func (a *answer) send(event spool.ModelEvent) error {
	a.inText = false
	return a.emit(event)
}

func (a *answer) say(it *item, delta string) error {
	if delta == "" {
		return a.checkBuffer()
	}
	it.said += len(delta)
	a.inText = true
	return a.emit(spool.TextDelta{Text: delta})
}

func (a *answer) reason(it *item, summary int, delta string) error {
	if delta == "" {
		return a.checkBuffer()
	}
	if summary > it.summary && it.said > 0 {
		delta = pause + delta
	}
	it.summary = summary
	it.said += len(delta)
	return a.send(spool.ReasoningDelta{Text: delta})
}

// start begins a tool call.
func (a *answer) start(it *item) error {
	if it.Name == "" || it.id != "" {
		return a.checkBuffer()
	}
	it.id = spool.ToolCallID(it.CallID)
	if it.id == "" || a.ids[it.id] {
		it.id = spool.ToolCallID("call_" + rand.Text()[:20])
	}
	a.ids[it.id] = true
	if err := a.send(spool.ToolCallStart{ID: it.id, Name: it.Name}); err != nil {
		return err
	}
	return a.checkBuffer()
}

func (a *answer) argue(it *item, delta string) error {
	it.args.WriteString(delta)
	a.bytes += len(delta)
	if err := a.checkBuffer(); err != nil || it.id == "" || delta == "" {
		return err
	}
	return a.send(spool.ToolCallDelta{ID: it.id, Args: delta})
}

// done handles an item that is complete, whether pieces of it were streamed or not.
func (a *answer) done(index int, raw json.RawMessage) error {
	it := a.at(index)
	var o output
	if it.done || json.Unmarshal(raw, &o) != nil || o.Type == "" {
		return a.checkBuffer()
	}
	it.done = true
	it.output = o
	switch o.Type {
	case "message":
		return a.endText(it)
	case "reasoning":
		return a.endReasoning(it, raw)
	case "function_call":
		return a.endCall(it, raw)
	}
	a.bytes += len(raw)
	if err := a.checkBuffer(); err != nil {
		return err
	}
	return a.send(spool.ProviderPart{Provider: a.model.pack(slices.Clone(raw))})
}

// rest returns the part of an item's text that was not emitted.
func (it *item) rest() string {
	said := it.output.said()
	return said[min(it.said, len(said)):]
}

func (a *answer) endText(it *item) error {
	a.refused = a.refused || it.refused()
	if err := a.say(it, it.rest()); err != nil {
		return err
	}
	if it.Phase == "" || it.said == 0 {
		return nil
	}
	return a.send(spool.TextEnd{Provider: a.model.packPhase(it.Phase)})
}

func (a *answer) endReasoning(it *item, raw json.RawMessage) error {
	if err := a.reason(it, 0, it.rest()); err != nil {
		return err
	}
	a.bytes += len(raw)
	if err := a.checkBuffer(); err != nil {
		return err
	}
	return a.send(spool.ReasoningEnd{Provider: a.model.pack(slices.Clone(raw))})
}

// endCall ends a call. The arguments are those that were streamed, and what the whole item has more.
func (a *answer) endCall(it *item, raw json.RawMessage) error {
	if err := a.start(it); err != nil {
		return err
	}
	if it.id == "" { // a call without a name cannot be executed
		return nil
	}
	if more, ok := strings.CutPrefix(string(it.Arguments), it.args.String()); ok {
		if err := a.argue(it, more); err != nil {
			return err
		}
	}
	a.called = true
	var own json.RawMessage
	if extended(raw) {
		own = slices.Clone(raw)
		a.bytes += len(own)
	}
	return a.send(spool.ToolCallEnd{ID: it.id, Name: it.Name, Args: whole(it.args.String()), Provider: a.model.packCall(it.CallID, own)})
}

// whole returns the arguments of a call, which may be none.
func whole(args string) string {
	if strings.TrimSpace(args) == "" {
		return "{}"
	}
	return args
}

// extended reports whether a call has fields that a [spool.Part] does not keep.
func extended(call json.RawMessage) bool {
	known := []string{"type", "id", "call_id", "name", "arguments", "status"}
	return slices.ContainsFunc(fieldsOf(call), func(f field) bool {
		return !slices.Contains(known, f.name) && string(f.value) != "null"
	})
}

// checkBuffer returns an error if the buffered items are too large.
func (a *answer) checkBuffer() error {
	if a.bytes <= maxBuffered {
		return nil
	}
	return errBufferFull
}

// end handles the end of a response. Items that were not streamed are in its output.
func (a *answer) end(r *response) error {
	a.finished = true
	if r.Model != "" {
		a.modelID = r.Model
	}
	if r.Status == "failed" || r.Status == "cancelled" || r.Described() {
		return a.failed(r)
	}
	for i, raw := range r.Output {
		if err := a.done(i, raw); err != nil {
			return err
		}
	}
	reason := spool.FinishStop
	switch {
	case r.Status == "incomplete":
		reason = incomplete(r)
	case a.refused:
		reason = spool.FinishFilter
	}
	return a.finish(reason, r.Usage.usage())
}

// incomplete returns the finish reason of a response that the provider cut.
func incomplete(r *response) spool.FinishReason {
	if r.IncompleteDetails == nil {
		return spool.FinishLength
	}
	switch word := r.IncompleteDetails.Reason; word {
	case "max_output_tokens", "":
		return spool.FinishLength
	case "content_filter":
		return spool.FinishFilter
	default:
		return spool.FinishReason(word)
	}
}

// finish closes the open calls and emits the end.
func (a *answer) finish(reason spool.FinishReason, usage spool.Usage) error {
	a.finished = true
	for _, index := range slices.Sorted(indexes(a.items)) {
		it := a.items[index]
		if it.id == "" || it.done {
			continue
		}
		a.called = true
		if err := a.send(spool.ToolCallEnd{ID: it.id, Name: it.Name, Args: whole(it.args.String())}); err != nil {
			return err
		}
	}
	if reason == spool.FinishStop && a.called {
		reason = spool.FinishToolCalls
	}
	return a.emit(spool.Finish{Reason: reason, Usage: usage, ModelID: a.modelID})
}

// overflow ends an answer whose items are too large. Its open calls do not run.
func (a *answer) overflow() error {
	a.finished = true
	for _, it := range a.items {
		it.done = true
	}
	return a.emit(spool.Finish{Reason: spool.FinishLength, ModelID: a.modelID})
}

func indexes(items map[int]*item) func(yield func(int) bool) {
	return func(yield func(int) bool) {
		for index := range items {
			if !yield(index) {
				return
			}
		}
	}
}

// cutError says that a connection broke before the end of the answer.
type cutError struct{ error }

func (c *cutError) Unwrap() error { return c.error }

func cutOff(format string, args ...any) error {
	return &cutError{&spool.ModelError{Message: fmt.Sprintf(format, args...)}}
}
