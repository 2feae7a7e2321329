package responses

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/citation"
	"github.com/spoolhq/spool/internal/finishword"
	"github.com/spoolhq/spool/internal/lenient"
	"github.com/spoolhq/spool/internal/openaiwire"
	"github.com/spoolhq/spool/internal/surrogate"
	"github.com/spoolhq/spool/internal/toolname"
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
	// tools are the names of the tools that the model may call.
	tools []string
	found
	ids   map[spool.ToolCallID]bool
	bytes int
	// text counts what was emitted.
	text citation.Text
	// inText is true while a block of text is open.
	inText          bool
	called, refused bool
	// cutCall is true if the provider cut a call.
	cutCall  bool
	finished bool
}

// add handles an event.
func (a *answer) add(data string) error {
	if err := a.read.parse(data); err != nil {
		return a.malformed(data, err)
	}
	e := &a.read
	if n := e.Sequence.N; n != nil {
		if a.again && *n <= a.after {
			return nil
		}
		a.after = *n
	}
	var err error
	switch e.Type {
	case "response.created", "response.queued", "response.in_progress":
		var r response
		if err := lenient.Object(e.Response, &r); err != nil {
			return nil //nolint:nilerr // nothing of it is text or a call
		}
		return a.begin(&r)
	case "response.output_item.added":
		return a.added(e)
	case "response.output_text.delta", "response.refusal.delta":
		a.refused = a.refused || e.Type == "response.refusal.delta"
		return a.emitText(a.at(e), string(e.Delta))
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return a.reason(a.at(e), e.SummaryIndex, string(e.Delta))
	case "response.output_text.annotation.added":
		return a.annotate(a.at(e), e.Annotation)
	case "response.function_call_arguments.delta":
		return a.argue(a.at(e), string(e.Delta))
	case "response.output_item.done":
		var o output
		if err = lenient.Object(e.Item, &o); err == nil {
			return a.done(a.itemOf(o, e.OutputIndex.N), o, e.Item)
		}
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled":
		var r response
		if err = lenient.Object(e.Response, &r); err == nil {
			return a.end(&r)
		}
	case "error":
		return a.failure(e.Failure)
	}
	if err != nil {
		return a.malformed(data, err)
	}
	return nil
}

// malformed returns the error for an event or an item that cannot be read. Broken JSON may be an accident, but JSON of
// another form is what the server sends each time.
func (a *answer) malformed(data string, err error) error {
	return &cutError{
		&spool.ModelError{Message: "malformed event: " + a.conn.Clean(data), Err: err, NoRetry: json.Valid([]byte(data))},
	}
}

// begin remembers the response. The engine learns of one that another process can come back to.
func (a *answer) begin(r *response) error {
	if r.ID == "" {
		return nil
	}
	if r.Model != "" {
		a.modelID = r.Model
	}
	a.background = a.background || r.Status == statusQueued // nothing else waits in a queue
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

func (a *answer) added(e *event) error {
	var o output
	if err := lenient.Object(e.Item, &o); err != nil {
		return nil //nolint:nilerr // the item comes again when it is complete
	}
	it := a.begun(o, e.OutputIndex.N)
	if it.Type != "" {
		return a.checkBuffer()
	}
	it.output = o
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

func (a *answer) emitText(it *item, delta string) error {
	if err := a.checkBuffer(); err != nil || delta == "" {
		return err
	}
	if it.emitted == 0 {
		it.began = a.text.Len()
	}
	it.emitted += surrogate.Len(delta)
	a.inText = true
	return a.emit(spool.TextDelta{Text: delta})
}

func (a *answer) reason(it *item, summary int, delta string) error {
	if err := a.checkBuffer(); err != nil || delta == "" {
		return err
	}
	if summary > it.summary && it.emitted > 0 {
		delta = pause + delta
	}
	it.summary = summary
	it.emitted += surrogate.Len(delta)
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
	it.tool = toolname.Known(it.Name, a.tools)
	if err := a.send(spool.ToolCallStart{ID: it.id, Name: it.tool}); err != nil {
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
func (a *answer) done(it *item, o output, raw json.RawMessage) error {
	if it.done || o.Type == "" {
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
	if image := imageOf(o.Type, raw); image != nil {
		return a.send(*image)
	}
	return a.send(spool.ProviderPart{Provider: a.model.pack(slices.Clone(raw))})
}

// unemitted returns the part of an item's text that was not emitted. It begins with a whole character, also if the
// text is not the one that was emitted.
func (it *item) unemitted() string {
	text := it.text()
	remaining := text[min(it.emitted, len(text)):]
	for remaining != "" && !utf8.RuneStart(remaining[0]) {
		remaining = remaining[1:]
	}
	return remaining
}

func (a *answer) endText(it *item) error {
	a.refused = a.refused || it.refused()
	if err := a.emitText(it, it.unemitted()); err != nil {
		return err
	}
	if it.Phase != "" && it.emitted > 0 {
		if err := a.send(spool.TextEnd{Provider: a.model.packPhase(it.Phase)}); err != nil {
			return err
		}
	}
	return a.cite(it)
}

func (a *answer) endReasoning(it *item, raw json.RawMessage) error {
	if err := a.reason(it, 0, it.unemitted()); err != nil {
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
	if more, ok := strings.CutPrefix(string(it.Arguments), surrogate.Valid(it.args.String())); ok {
		if err := a.argue(it, more); err != nil {
			return err
		}
	}
	a.called = true
	a.cutCall = a.cutCall || it.Status == statusIncomplete
	var own json.RawMessage
	if extended(raw) {
		own = slices.Clone(raw)
		a.bytes += len(own)
	}
	return a.send(spool.ToolCallEnd{
		ID: it.id, Name: it.tool, Args: argsOf(it.args.String()), Provider: a.model.packCall(it.CallID, own),
	})
}

// argsOf returns the arguments of a call, and an empty object if the model has sent none.
func argsOf(args string) string {
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
	if err := a.finishItems(r); err != nil {
		return err
	}
	reason := spool.FinishStop
	switch {
	case r.Status == statusIncomplete:
		reason = incomplete(r)
	case a.refused:
		reason = spool.FinishFilter
	case r.Status != "" && r.Status != "completed" && !r.inProgress():
		reason = spool.FinishReason(r.Status)
	}
	return a.finish(reason, r.Usage.usage())
}

// finishItems emits what was not streamed of the items in a response's output.
func (a *answer) finishItems(r *response) error {
	list, err := r.items()
	if err != nil {
		return a.malformed(string(r.Output), err)
	}
	items := make([]output, len(list))
	for i, raw := range list {
		if err := lenient.Object(raw, &items[i]); err != nil {
			return a.malformed(string(raw), err)
		}
		a.sameIDs = a.sameIDs || a.byID[items[i].ID] != nil
	}
	for i, o := range items {
		if err := a.done(a.listed(o, int64(i)), o, list[i]); err != nil {
			return err
		}
	}
	return nil
}

// incomplete returns the finish reason of a response that the provider cut.
func incomplete(r *response) spool.FinishReason {
	word := ""
	if r.IncompleteDetails != nil {
		word = r.IncompleteDetails.Reason
	}
	switch class := finishword.Of(word); {
	case class == finishword.Limit, word == "max_output_tokens", word == "":
		return spool.FinishLength
	case class == finishword.Filter:
		return spool.FinishFilter
	default:
		return spool.FinishReason(word)
	}
}

// finish closes the open calls and emits the end. Whole calls run under a word that is not known.
func (a *answer) finish(reason spool.FinishReason, usage spool.Usage) error {
	a.finished = true
	whole := !a.cutCall
	for _, it := range a.items {
		if it.id == "" || it.done {
			continue
		}
		a.called, whole = true, false
		if err := a.send(spool.ToolCallEnd{ID: it.id, Name: it.tool, Args: argsOf(it.args.String())}); err != nil {
			return err
		}
	}
	switch reason {
	case spool.FinishLength, spool.FinishFilter:
	case spool.FinishStop:
		whole = true // the server left the ends of the calls out
		fallthrough
	default:
		if a.called && whole {
			reason = spool.FinishToolCalls
		}
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

// cutError says that a connection broke before the end of the answer.
type cutError struct{ error }

func (c *cutError) Unwrap() error { return c.error }

func cutOff(format string, args ...any) error {
	return &cutError{&spool.ModelError{Message: fmt.Sprintf(format, args...)}}
}
