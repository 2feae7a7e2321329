package aisdk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/strictjson"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Post is what a client says with its last message. The messages before it do not count: the thread has its own.
type Post struct {
	ID    string     `json:"id"`
	Role  spool.Role `json:"role"`
	Parts []PostPart `json:"parts"`
}

// PostPart is a part of the last message, as far as it counts.
type PostPart struct {
	Type       string           `json:"type"`
	Text       string           `json:"text"`
	State      string           `json:"state"`
	ToolCallID spool.ToolCallID `json:"toolCallId"`
	Output     json.RawMessage  `json:"output"`
	ErrorText  string           `json:"errorText"`
	URL        string           `json:"url"`
	MediaType  string           `json:"mediaType"`
	Filename   string           `json:"filename"`
	// ProviderExecuted is false for a call of the page's own tool.
	ProviderExecuted *bool `json:"providerExecuted"`
	Approval         *struct {
		ID       string `json:"id"`
		Approved *bool  `json:"approved"`
		Reason   string `json:"reason"`

		// The fields of other forms of answer are refused: the call would run in another way than the person has said.
		Arguments  json.RawMessage `json:"arguments"`
		Decision   json.RawMessage `json:"decision"`
		Digest     json.RawMessage `json:"digest"`
		EditedArgs json.RawMessage `json:"editedArgs"`
		Payload    json.RawMessage `json:"payload"`
	} `json:"approval"`
}

// checkForm returns an [spool.Invalid] error if the approval has a field of another form of answer.
func (p PostPart) checkForm() error {
	a := p.Approval
	return notHere(`messages: the approval of the call "`+string(p.ToolCallID)+`": `,
		"answers has the details of an answer", []otherField{
			{"arguments", a.Arguments},
			{"decision", a.Decision},
			{"digest", a.Digest},
			{"editedArgs", a.EditedArgs},
			{"payload", a.Payload},
		})
}

// otherField is a field that belongs to another form of answer.
type otherField struct {
	name  string
	value json.RawMessage
}

// notHere returns an [spool.Invalid] error for the first of the fields that has a value. Way says how this form says
// it.
func notHere(prefix, way string, fields []otherField) error {
	for _, f := range fields {
		if f.value != nil {
			return spool.Errorf(spool.Invalid, "%s%s is a field of another form of answer: %s", prefix, f.name, way)
		}
	}
	return nil
}

// ReadPost reads the last message of a client, a zero Post if there is none. It returns an [spool.Invalid] error for a
// malformed one.
func ReadPost(messages []json.RawMessage) (p Post, err error) {
	if last := len(messages) - 1; last >= 0 {
		err = strictjson.Decode("messages["+strconv.Itoa(last)+"]", messages[last], &p)
	}
	return p, err
}

// CheckRole returns an [spool.Invalid] error unless the message is a user's or an assistant's.
func (p Post) CheckRole() error {
	switch p.Role {
	case spool.RoleUser, spool.RoleAssistant:
		return nil
	case "":
		return spool.Errorf(spool.Invalid, "messages must have at least the message that is sent, with its role")
	default:
		return spool.Errorf(spool.Invalid, "messages: the last one has the role %q; it must be user or assistant", p.Role)
	}
}

// Turn returns the text and the attachments of a user's message. A file at the address of an artifact is that artifact.
func (p Post) Turn(address Address) (text string, attachments []wire.Attachment, err error) {
	var texts []string
	for i, part := range p.Parts {
		switch part.Type {
		case partText:
			texts = append(texts, part.Text)
		case partFile:
			attachments = append(attachments, attachment(address, part.URL, part.MediaType, part.Filename))
		default:
			if !strings.HasPrefix(part.Type, prefixData) {
				return "", nil, spool.Errorf(spool.Invalid,
					"messages: part %d of the last one has the type %q; a user's message has text, files and data", i, part.Type)
			}
		}
	}
	return strings.Join(texts, "\n"), attachments, nil
}

// attachment returns the attachment of a file part.
func attachment(address Address, url, mediaType, name string) wire.Attachment {
	a := wire.Attachment{MediaType: mediaType}
	if id, ok := address.artifact(url); ok {
		a.ArtifactID = id
	} else {
		a.URL = url
	}
	if !strings.HasPrefix(mediaType, "image/") {
		a.Name = name
	}
	return a
}

// Said returns the text and the attachments of a saved turn.
func Said(m spool.Message) (text string, attachments []wire.Attachment) {
	var texts []string
	for _, p := range m.Content {
		switch p.Type {
		case spool.PartText:
			texts = append(texts, p.Text)
		case spool.PartImage:
			attachments = append(attachments, attachment(nil, p.Image, p.MIMEType, ""))
		case spool.PartFile:
			attachments = append(attachments, attachment(nil, p.File, p.MIMEType, p.FileName))
		default:
		}
	}
	return strings.Join(texts, "\n"), attachments
}

// ClientID returns the client's id of the message, "" if it cannot be stored.
func (p Post) ClientID() string {
	if spool.CheckID("id", p.ID) != nil {
		return ""
	}
	return p.ID
}

// RunID returns the id of the run that the message starts. It is always the same for a message of a thread, so a
// post that comes twice starts one run. Empty: the message has no id.
func (p Post) RunID(thread spool.ThreadID) spool.RunID {
	id := p.ClientID()
	if id == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(string(thread) + "\x00" + id))
	return spool.RunID("chat-" + hex.EncodeToString(sum[:16]))
}

// FindTurn returns the turn of the thread that a client means by the id of a message: the id of a turn, or of the
// answer to a turn, which is that of its run.
func FindTurn(id string, turns []spool.Message) (spool.Message, bool) {
	at := -1
	for i, m := range turns {
		if turnID(m) == id || string(m.ID) == id || string(m.RunID) == id {
			at = i
		}
	}
	if id == "" || at < 0 {
		return spool.Message{}, false
	}
	return turns[at], true
}

// Answers are what an assistant's message says about the questions in it.
type Answers struct {
	// Approvals are answers to questions, and Outputs are results of calls that the client executes itself.
	Approvals, Outputs []wire.Response
	// Given are the Outputs, for the translator.
	Given []projection.Given
	// Copied are the calls that the client has.
	Copied map[spool.ToolCallID]Part
	// Late is true if there are answers to questions that nobody asks any more.
	Late bool

	details map[spool.ToolCallID]AnswerDetail
}

// AnswerDetail is more about an answer than a client of the AI SDK can say in its message.
type AnswerDetail struct {
	// Payload is what the question asks for, such as the new totals of a budget, as the inputSchema of its
	// approvalDescriptor says.
	Payload json.RawMessage `json:"payload,omitempty"`
	// The hidden fields are those of other forms of answer, and are refused as in the message.
	Approved   json.RawMessage `hidden:"true" json:"approved,omitempty"`
	Decision   json.RawMessage `hidden:"true" json:"decision,omitempty"`
	Digest     json.RawMessage `hidden:"true" json:"digest,omitempty"`
	EditedArgs json.RawMessage `hidden:"true" json:"editedArgs,omitempty"`
	Reason     json.RawMessage `hidden:"true" json:"reason,omitempty"`

	// Arguments are the arguments with which an approved call runs, instead of its own.
	Arguments json.RawMessage `json:"arguments,omitempty"`
}

// checkForm returns an [spool.Invalid] error if the detail has a field of another form of answer.
func (d AnswerDetail) checkForm(call spool.ToolCallID) error {
	prefix := "answers." + string(call) + "."
	if err := notHere(
		prefix, "arguments has those of an edited call", []otherField{{"editedArgs", d.EditedArgs}},
	); err != nil {
		return err
	}
	return notHere(prefix, "the message says it, in the approval of the call", []otherField{
		{"approved", d.Approved}, {"decision", d.Decision}, {"digest", d.Digest}, {"reason", d.Reason},
	})
}

// Answers returns the answers to open parks, with the details of each. Other answers do not count: the client sends
// its whole message. It returns a [spool.Conflict] error for an answer to a question that has changed since the client
// saw it.
func (p Post) Answers(open projection.Parks, details map[spool.ToolCallID]AnswerDetail) (Answers, error) {
	a := Answers{Copied: make(map[spool.ToolCallID]Part), details: details}
	for id, detail := range details {
		if err := detail.checkForm(id); err != nil {
			return a, err
		}
		if !slices.ContainsFunc(p.Parts, func(part PostPart) bool {
			return part.ToolCallID == id && part.State == stateAnswered
		}) {
			return a, spool.Errorf(spool.Invalid, "answers: the last message has no answer for the call %q", id)
		}
	}
	for _, part := range p.Parts {
		if part.ToolCallID == "" {
			continue
		}
		a.Copied[part.ToolCallID] = part.copied()
		at := slices.IndexFunc(open, func(in wire.InputRequired) bool { return in.ToolCallID == part.ToolCallID })
		var park *wire.InputRequired
		if at >= 0 {
			park = &open[at]
		}
		if err := a.read(part, park); err != nil {
			return a, err
		}
	}
	return a, nil
}

// copied returns what a translator needs to know of the client's copy of a call.
func (p PostPart) copied() Part {
	c := Part{Type: p.Type, State: p.State, ProviderExecuted: p.ProviderExecuted, Output: p.Output, ErrorText: p.ErrorText}
	if p.Approval != nil {
		c.Approval = &Approval{ID: p.Approval.ID, Approved: p.Approval.Approved}
	}
	return c
}

func (a *Answers) read(part PostPart, park *wire.InputRequired) error {
	switch {
	case part.State == stateAnswered && (part.Approval == nil || part.Approval.Approved == nil):
		return spool.Errorf(spool.Invalid, "messages: the answer for the call %q has no approval with approved",
			part.ToolCallID)
	case part.State == stateAnswered && park == nil:
		a.Late = true
	case part.State == stateAnswered:
		call, digest, ok := parseApprovalID(part.Approval.ID)
		if !ok || call != part.ToolCallID {
			return spool.Errorf(spool.Invalid, "messages: the approval of the call %q has an id that is not of this server",
				part.ToolCallID)
		}
		if digest != park.Digest {
			return spool.Errorf(spool.Conflict, "The question about %s has changed. Load the chat again to see it.",
				park.ToolName)
		}
		if err := part.checkForm(); err != nil {
			return err
		}
		detail := a.details[call]
		a.Approvals = append(a.Approvals, wire.Response{
			ToolCallID: call, Approved: *part.Approval.Approved, Payload: nonNull(detail.Payload),
			Args: nonNull(detail.Arguments), Reason: part.Approval.Reason, Digest: digest,
		})
	case park != nil && projection.ForClient(*park) && (part.State == stateOutput || part.State == stateError):
		payload := part.Output
		if part.State == stateError {
			payload = mustJSON(map[string]string{"error": part.ErrorText})
		}
		payload = cmpJSON(payload)
		a.Outputs = append(a.Outputs, wire.Response{
			ToolCallID: part.ToolCallID, Approved: true, Payload: payload, Digest: park.Digest,
		})
		a.Given = append(a.Given, projection.Given{
			ToolCallID: part.ToolCallID, Payload: payload, Nested: park.AgentID != nil,
		})
	}
	return nil
}

// nonNull returns a value, nil for null.
func nonNull(v json.RawMessage) json.RawMessage {
	if string(v) == "null" {
		return nil
	}
	return v
}
