package agui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/wire"
)

// RunAgentInput is the body that a client sends to start or continue a run. Only the last message counts, and
// the results at the end: the thread has its own messages.
type RunAgentInput struct {
	// ThreadID is the thread. If it does not exist, its first turn creates it.
	ThreadID spool.ThreadID `example:"t1" json:"threadId" required:"true"`
	// RunID is the client's name for this run. A tenant may use one once.
	RunID spool.RunID `example:"r1" json:"runId" required:"true"`
	// Messages are the conversation as the client has it. If the last message is the user's, it is the prompt; one
	// that the thread has already is answered again.
	Messages []InputMessage `json:"messages" nullable:"false" required:"true"`
	// Answers to all open questions of the thread. With it, the messages do not count.
	Resume []ResumeEntry `json:"resume,omitempty"`
	// State is the client's state. In an object, the key spool is kept up to date with the state of the thread.
	State json.RawMessage `json:"state,omitempty"`
	// Tools that the client executes itself. The model gets them for the run that this starts. A call of one ends
	// the answer, and the client sends the result as a message with the role tool.
	Tools []InputTool `json:"tools,omitempty"`
	// Information of the client for the run that this starts. The model reads it as data.
	Context []InputContext `json:"context,omitempty"`
	// ProtocolVersion is the version of AG-UI that the client speaks. Left out, or before 1.0: a stopped run ends
	// with the outcome success and the finishReason cancelled.
	ProtocolVersion string `example:"1.0" json:"protocolVersion,omitempty"`
	// ForwardedProps is an object. Its key spool may have agent, model, maxSteps, whenBusy, providerOptions and
	// onDisconnect for the run.
	ForwardedProps json.RawMessage `json:"forwardedProps,omitempty"`
}

// Before1 reports whether the client speaks a version of the protocol before 1.0, from which on clients declare
// their version. Such a client takes the outcomes success and interrupt only: any other one is an exception in
// its page.
func (in *RunAgentInput) Before1() bool {
	major, _, _ := strings.Cut(in.ProtocolVersion, ".")
	n, err := strconv.Atoi(major)
	return err != nil || n < 1
}

// InputMessage is a message of a client.
type InputMessage struct {
	ID   string     `json:"id"`   // The client's name for the message.
	Role spool.Role `json:"role"` // Who speaks.
	// Content is a text. A user's message may also have a list of parts with texts, images and documents.
	Content json.RawMessage `json:"content,omitempty"`
	// ToolCallID is the call whose result this is. Only for the role tool.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`
	Error      string           `json:"error,omitempty"` // Why the call failed. Only for the role tool.
}

// ResumeEntry is the answer to one interrupt.
type ResumeEntry struct {
	InterruptID spool.ToolCallID `json:"interruptId"` // The interrupt.
	// resolved, or cancelled: cancelled denies.
	Status string `enum:"resolved,cancelled" json:"status"`
	// Payload is the answer, in the form of the interrupt's responseSchema: approved, and a payload.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// Acts reports whether the post is more than a look at the thread: it has answers, a turn or a result.
func (in *RunAgentInput) Acts() bool {
	n := len(in.Messages)
	return len(in.Resume) > 0 || n > 0 &&
		(in.Messages[n-1].Role == spool.RoleUser || in.Messages[n-1].Role == spool.RoleTool)
}

// Turn is a user turn.
type Turn struct {
	// ID is the client's id for the turn. Empty: the client gave no id that can be stored.
	ID string
	// Text may be empty if there are attachments.
	Text string
	// Attachments are the images and documents.
	Attachments []wire.Attachment
}

// Turn returns the last message if it is the user's, and nil otherwise. It returns an [spool.Invalid] error
// for a malformed message, and for a message with a role that cannot prompt.
func (in *RunAgentInput) Turn() (*Turn, error) {
	if len(in.Messages) == 0 {
		return nil, nil //nolint:nilnil // there is none, and that is no error
	}
	last := in.Messages[len(in.Messages)-1]
	switch last.Role {
	case spool.RoleUser:
	case spool.RoleAssistant, roleReasoning:
		return nil, nil //nolint:nilnil // as above
	default:
		return nil, spool.Errorf(spool.Invalid,
			"messages: the last one has the role %q; only a user's is a prompt, and a tool's a result", last.Role)
	}
	turn := &Turn{ID: last.ID}
	if spool.CheckID("id", last.ID) != nil {
		turn.ID = ""
	}
	if strictjson.Decode("", last.Content, &turn.Text) == nil {
		return turn, nil
	}
	if strictjson.Decode("", last.Content, &[]json.RawMessage{}) != nil {
		return nil, spool.Errorf(spool.Invalid, "messages: the content of the last one must be a string or an array of parts")
	}
	var parts []Part
	if err := strictjson.Decode(
		fmt.Sprintf("messages[%d].content", len(in.Messages)-1), last.Content, &parts,
	); err != nil {
		return nil, err
	}
	return turn, turn.read(parts)
}

func (t *Turn) read(parts []Part) error {
	var texts []string
	for i, p := range parts {
		switch {
		case p.Type == partText:
			texts = append(texts, p.Text)
		case (p.Type == partImage || p.Type == partDocument) && p.Source != nil && p.Source.Type == sourceURL:
			kind := p.Source.MIMEType
			if kind == "" && p.Type == partDocument {
				kind = "application/pdf"
			}
			t.Attachments = append(t.Attachments, wire.Attachment{URL: p.Source.Value, MediaType: kind})
		case (p.Type == partImage || p.Type == partDocument) && p.Source != nil && p.Source.Type == sourceData:
			url := "data:" + p.Source.MIMEType + base64Mark + p.Source.Value
			t.Attachments = append(t.Attachments, wire.Attachment{URL: url, MediaType: p.Source.MIMEType})
		default:
			return spool.Errorf(spool.Invalid,
				"messages: part %d of the last one is neither text, nor an image or a document by URL or data", i)
		}
	}
	t.Text = strings.Join(texts, "\n")
	return nil
}

// Saved returns the thread's message for the turn, if it has one. The client then wants the turn answered
// again, and not repeated.
func (t *Turn) Saved(all []spool.Message) (spool.Message, bool) {
	for _, m := range slices.Backward(all) {
		if m.Role == spool.RoleUser && m.AgentID == "" && t.ID != "" && turnID(m) == t.ID {
			return m, true
		}
	}
	return spool.Message{}, false
}

// Wishes are the options of this server that a client can send beyond the protocol.
type Wishes struct {
	wire.StartOptions

	// WhenBusy says what to do while the thread has another run. Defaults to the agent's.
	WhenBusy spool.WhenBusy `json:"whenBusy"`
	// OnDisconnect is "stop" if the run stops when the client disconnects before the answer is over, and "continue"
	// if the run goes on without the client. Empty: it goes on if somebody follows the thread soon.
	OnDisconnect string `json:"onDisconnect"`
	// State is only read to be refused: run state comes from the host's session.
	State json.RawMessage `json:"state"`
}

// Wishes returns the options under this server's key of the forwarded properties.
func (in *RunAgentInput) Wishes() (Wishes, error) {
	var props struct {
		Spool Wishes `json:"spool"` // stateKey
	}
	if strictjson.IsObject(in.ForwardedProps) { // anything else has no fields
		if err := strictjson.Decode("forwardedProps", in.ForwardedProps, &props); err != nil {
			return Wishes{}, err
		}
	}
	w := props.Spool
	if !slices.Contains([]string{"", "continue", onDisconnectStop}, w.OnDisconnect) {
		return w, spool.Errorf(spool.Invalid, "forwardedProps.%s.onDisconnect must be continue or stop", stateKey)
	}
	if w.State != nil && string(w.State) != "null" {
		return w, spool.Errorf(spool.Invalid,
			"forwardedProps.%s.state is not taken from a request: what the tools of a run get comes from the host's session",
			stateKey)
	}
	return w, nil
}

const onDisconnectStop = "stop"

// Stops reports whether the run stops when the client disconnects.
func (w Wishes) Stops() bool { return w.OnDisconnect == onDisconnectStop }

// Answers returns the answers to the open interrupts, in their order. It returns an [spool.Invalid] error for
// a missing, repeated or malformed answer, and a [spool.Conflict] error for an answer to something that is
// not open.
func (in *RunAgentInput) Answers(open []Interrupt) ([]Answer, error) {
	given := make(map[spool.ToolCallID]ResumeEntry, len(in.Resume))
	for _, entry := range in.Resume {
		if _, twice := given[entry.InterruptID]; twice {
			return nil, spool.Errorf(spool.Invalid, "resume: %q is answered twice", entry.InterruptID)
		}
		if !slices.ContainsFunc(open, func(i Interrupt) bool { return i.ID == entry.InterruptID }) {
			return nil, spool.Errorf(spool.Conflict, "resume: nothing waits for an answer to %q", entry.InterruptID)
		}
		given[entry.InterruptID] = entry
	}
	answers := make([]Answer, 0, len(open))
	for _, i := range open {
		entry, ok := given[i.ID]
		if !ok {
			return nil, spool.Errorf(spool.Invalid, "resume: %q waits for an answer too", i.ID)
		}
		answer, err := entry.answer(i)
		if err != nil {
			return nil, err
		}
		answers = append(answers, i.bind(answer))
	}
	return answers, nil
}

// answer reads the answer to an interrupt.
func (e ResumeEntry) answer(to Interrupt) (Answer, error) {
	switch e.Status {
	case "cancelled":
		return Answer{ToolCallID: e.InterruptID}, nil
	case "resolved":
		return e.resolved(to)
	default:
		return Answer{}, spool.Errorf(spool.Invalid, "resume: the status of %q must be resolved or cancelled", e.InterruptID)
	}
}

// resolved reads a payload that the interrupt's responseSchema describes. A question of the engine needs the
// boolean "approved": any other payload is refused, because it does not say yes. If a tool parked its own
// call, an answer may have a payload of any form without that field. It allows the call to run with the
// payload.
func (e ResumeEntry) resolved(to Interrupt) (Answer, error) {
	var said struct {
		Approved   *bool           `json:"approved"`
		Payload    json.RawMessage `json:"payload"`
		EditedArgs json.RawMessage `json:"editedArgs"`
		Reason     string          `json:"reason"`
		Digest     string          `json:"digest"`
		Arguments  json.RawMessage `json:"arguments"`
		Decision   json.RawMessage `json:"decision"`
	}
	isObject := strictjson.IsObject(e.Payload)
	if isObject {
		if err := strictjson.Check(e.Payload, said); err != nil {
			return Answer{}, spool.Errorf(spool.Invalid, "resume: the payload of %q: %s", e.InterruptID, spool.MessageOf(err))
		}
	}
	err := strictjson.Decode("", e.Payload, &said)
	switch {
	case isObject && err == nil && said.Approved != nil && said.Arguments != nil: // the call would run with its own
		return Answer{}, spool.Errorf(spool.Invalid,
			"resume: the payload of %q: arguments is a field of another form of answer: editedArgs has those of an edited call",
			e.InterruptID)
	case isObject && err == nil && said.Approved != nil && said.Decision != nil:
		return Answer{}, spool.Errorf(spool.Invalid,
			"resume: the payload of %q: decision is a field of another form of answer: approved is true or false", e.InterruptID)
	case isObject && err == nil && said.Approved != nil:
		return Answer{
			ToolCallID: e.InterruptID, Approved: *said.Approved, Payload: said.Payload, Args: said.EditedArgs,
			Reason: said.Reason, Digest: said.Digest,
		}, nil
	case isObject && err != nil && to.needsDecision():
		return Answer{}, spool.Errorf(spool.Invalid, "resume: the payload of %q: %s", e.InterruptID, spool.MessageOf(err))
	case to.needsDecision():
		return Answer{}, spool.Errorf(spool.Invalid,
			"resume: the payload of %q must be an object whose approved is true or false", e.InterruptID)
	case isObject && hasAny(e.Payload, "approved", "editedArgs"):
		return Answer{}, spool.Errorf(spool.Invalid, "resume: the payload of %q is not as its responseSchema has it",
			e.InterruptID)
	default:
		return Answer{ToolCallID: e.InterruptID, Approved: true, Payload: e.Payload}, nil
	}
}

// needsDecision reports whether the answer must have the boolean "approved": the engine asks whether
// something may happen.
func (i Interrupt) needsDecision() bool {
	return slices.Contains([]string{wire.ParkApproval, wire.ParkOutcomeUnknown, wire.ParkBudget}, i.Reason)
}

// hasAny reports whether a JSON object has one of the keys.
func hasAny(object json.RawMessage, keys ...string) bool {
	var fields map[string]json.RawMessage
	_ = strictjson.Decode("", object, &fields) // the caller has checked that it is an object
	return slices.ContainsFunc(keys, func(key string) bool { return fields[key] != nil })
}

// InputTool is a tool that the client executes.
type InputTool struct {
	// 1 to 64 letters, digits, underscores and hyphens. No tool of the agent has it.
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // The description for the model.
	// Parameters are the JSON Schema of the arguments, which are an object. Left out: any object. The server does
	// not follow references.
	Parameters json.RawMessage `json:"parameters,omitempty"`
}

// InputContext is information of the client for the model.
type InputContext struct {
	Description string `json:"description"` // What it is.
	Value       string `json:"value"`       // What it says.
}
