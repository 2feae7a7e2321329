package spooltest

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
)

// modelAnswer is the result of one call of Stream.
type modelAnswer struct {
	content spool.Content
	sources []spool.Source
	usage   spool.Usage
	finish  *spool.Finish
	err     error
}

func (a modelAnswer) reasoning() string {
	var b strings.Builder
	for _, p := range a.content {
		if p.Type == spool.PartReasoning {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func (a modelAnswer) calls() []spool.Part {
	return spool.Message{Content: a.content}.ToolCalls()
}

// stored returns the answer as a message that was stored as JSON, as a thread stores it between one
// request and the next.
func (a modelAnswer) stored(t *testing.T) spool.Message {
	t.Helper()

	stored, err := a.content.MarshalStored()
	if err != nil {
		t.Fatal(err)
	}
	m := spool.Message{Role: spool.RoleAssistant}
	if err := json.Unmarshal(stored, &m.Content); err != nil {
		t.Fatal(err)
	}
	return m
}

// mustFinish fails the test unless the answer finished with the given reason.
func (a modelAnswer) mustFinish(t *testing.T, reason spool.FinishReason) {
	t.Helper()

	if a.err != nil {
		t.Fatalf("stream: %v", a.err)
	}
	if a.finish.Reason != reason {
		t.Errorf("finish reason %q, want %q", a.finish.Reason, reason)
	}
}

// mustFail fails the test unless the answer ended with a model error, and returns that error.
func (a modelAnswer) mustFail(t *testing.T) *spool.ModelError {
	t.Helper()

	var m *spool.ModelError
	if !errors.As(a.err, &m) {
		t.Fatalf("got error %v, want a ModelError", a.err)
	}
	if strings.Contains(a.err.Error(), ModelSecret) || m.Err != nil && strings.Contains(m.Err.Error(), ModelSecret) {
		t.Errorf("the key is in the error: %v", a.err)
	}
	return m
}

// askModel streams one answer and checks the rules for every stream: it ends with one finish or one
// error, and the pieces of tool calls come in order and add up.
func askModel(
	ctx context.Context, t *testing.T, m spool.Model, r spool.ModelRequest, seen func(spool.ModelEvent),
) modelAnswer {
	t.Helper()

	f := modelFolder{t: t, args: make(map[spool.ToolCallID]string), open: make(map[spool.ToolCallID]bool)}
	for event, err := range m.Stream(ctx, r) {
		if f.answer.finish != nil || f.answer.err != nil {
			t.Errorf("%T (%v) came after the end", event, err)
		}
		if err != nil {
			f.answer.err = err
			continue
		}
		f.add(event)
		if seen != nil {
			seen(event)
		}
	}
	if f.answer.finish == nil && f.answer.err == nil {
		t.Error("the stream ended with neither a finish nor an error")
		f.answer.err = errors.New("no end")
	}
	if f.answer.err == nil && len(f.open) > 0 {
		t.Errorf("tool calls without an end: %v", f.open)
	}
	return f.answer
}

type modelFolder struct {
	t      *testing.T
	answer modelAnswer
	args   map[spool.ToolCallID]string
	open   map[spool.ToolCallID]bool
	// block is the kind of the block of text or reasoning that is open. Empty: none is.
	block spool.PartType
	// begun is true after the first piece of the answer, and resumable after a resume point.
	begun, resumable bool
}

func (f *modelFolder) add(event spool.ModelEvent) {
	f.t.Helper()

	switch e := event.(type) {
	case spool.ResumePoint:
		f.resumePoint(e)
		return
	case spool.FilesWithheld:
		if f.begun || e.Text == "" {
			f.t.Errorf("files are withheld after the first piece, or without a text: %+v", e)
		}
		return
	case spool.Source:
		f.answer.sources = append(f.answer.sources, e)
		return
	case spool.UsageSeen:
		f.answer.usage = e.Usage
		return
	case spool.Finish:
		f.answer.finish, f.answer.usage = &e, e.Usage
		return
	}
	f.begun = true
	switch e := event.(type) {
	case spool.TextDelta:
		f.extend(spool.PartText, e.Text)
	case spool.TextEnd:
		f.endBlock(spool.PartText, e.Provider)
	case spool.ReasoningDelta:
		f.extend(spool.PartReasoning, e.Text)
	case spool.ReasoningEnd:
		f.endBlock(spool.PartReasoning, e.Provider)
	case spool.FileMade:
		if len(e.Data) == 0 {
			f.t.Errorf("a file without data: %+v", e)
		}
		f.checkProvider(e.Provider)
		f.block = ""
		f.answer.content = append(f.answer.content,
			spool.Part{Type: spool.PartImage, MIMEType: e.MediaType, Provider: e.Provider})
	case spool.ProviderPart:
		f.endBlock(spool.PartProvider, e.Provider)
	case spool.ToolCallStart:
		if _, twice := f.args[e.ID]; twice || e.ID == "" || e.Name == "" {
			f.t.Errorf("tool call start %+v, after those of %v", e, f.args)
		}
		f.args[e.ID], f.open[e.ID], f.block = "", true, ""
	case spool.ToolCallDelta:
		if !f.open[e.ID] {
			f.t.Errorf("arguments for call %q, which is not open", e.ID)
		}
		f.args[e.ID] += e.Args
	case spool.ToolCallEnd:
		f.endCall(e)
	default:
		f.t.Errorf("unknown event %T", event)
	}
}

func (f *modelFolder) resumePoint(e spool.ResumePoint) {
	f.t.Helper()

	if f.begun || f.resumable || !json.Valid(e.Data) {
		f.t.Errorf("resume point %s is no JSON, comes late or comes twice", e.Data)
	}
	f.resumable = true
}

// endBlock closes the open block of the kind. Data without an open block is a block of its own.
func (f *modelFolder) endBlock(kind spool.PartType, provider json.RawMessage) {
	f.t.Helper()

	f.checkProvider(provider)
	open := f.block == kind
	f.block = ""
	content := &f.answer.content
	switch {
	case open:
		(*content)[len(*content)-1].Provider = provider
	case provider != nil:
		*content = append(*content, spool.Part{Type: kind, Provider: provider})
	case kind == spool.PartProvider:
		f.t.Error("a provider part without data")
	}
}

// checkProvider checks that data is an object with the name of the adapter's format as its only key.
func (f *modelFolder) checkProvider(provider json.RawMessage) {
	f.t.Helper()

	var data map[string]json.RawMessage
	if provider != nil && (json.Unmarshal(provider, &data) != nil || len(data) != 1) {
		f.t.Errorf("provider data is no object with one key: %s", provider)
	}
}

func (f *modelFolder) endCall(e spool.ToolCallEnd) {
	f.t.Helper()

	if !f.open[e.ID] {
		f.t.Errorf("end of call %q, which is not open", e.ID)
	}
	delete(f.open, e.ID)
	f.checkProvider(e.Provider)
	f.block = ""
	if pieces := f.args[e.ID]; pieces != "" && pieces != e.Args {
		f.t.Errorf("call %s: the pieces are %q, the whole is %q", e.ID, pieces, e.Args)
	}
	f.answer.content = append(f.answer.content, spool.Part{
		Type: spool.PartToolCall, ToolCallID: e.ID, ToolName: e.Name, Args: storedArgs(f.t, e.Args), Provider: e.Provider,
	})
}

// storedArgs returns the arguments as a thread stores them.
func storedArgs(t *testing.T, args string) json.RawMessage {
	t.Helper()

	if json.Valid([]byte(args)) {
		return json.RawMessage(args)
	}
	text, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func (f *modelFolder) extend(kind spool.PartType, text string) {
	content := &f.answer.content
	if f.block == kind {
		(*content)[len(*content)-1].Text += text
		return
	}
	f.block = kind
	*content = append(*content, spool.Part{Type: kind, Text: text})
}
