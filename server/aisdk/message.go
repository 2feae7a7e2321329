package aisdk

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
)

type rawJSON = json.RawMessage

// Message is a UI message, as a client keeps it.
type Message struct {
	// ID is the message's id. For an assistant's message it is the run's, for a user's the client's own if there is
	// one.
	ID       string     `json:"id"`
	Role     spool.Role `enum:"system,user,assistant" json:"role"`      // Who speaks.
	Metadata *Metadata  `json:"metadata,omitempty"    nullable:"false"` // What else is known of the message.
	Parts    []Part     `json:"parts"`                                  // The text, the calls and so on, in order.
}

// Part is a part of a message. Its type decides which fields it has.
type Part struct {
	// text, reasoning, file, step-start, tool- and the name of a tool, dynamic-tool, or data- and a name.
	Type string `json:"type"`
	// ID is the part's own id.
	//
	// Of a data part, a message of a steer or a block of reasoning.
	ID         string           `json:"id,omitempty"`
	Text       *string          `json:"text,omitempty"       nullable:"false"` // The text.
	State      string           `json:"state,omitempty"`                       // How far the part is.
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`                  // The call.
	// ToolName is the tool. Only of a dynamic-tool.
	ToolName string `json:"toolName,omitempty"`
	// ProviderExecuted is whether the server executes the call.
	ProviderExecuted *bool `json:"providerExecuted,omitempty" nullable:"false"`
	// ToolMetadata is the nested run that made the call.
	ToolMetadata *Caller         `json:"toolMetadata,omitempty" nullable:"false"`
	Input        json.RawMessage `json:"input,omitempty"`     // The arguments.
	Output       json.RawMessage `json:"output,omitempty"`    // The result.
	ErrorText    string          `json:"errorText,omitempty"` // Why the call failed.
	// Approval is the question that the call waits for.
	Approval *Approval `json:"approval,omitempty" nullable:"false"`
	// URL is the address of a file, or a data URL.
	URL       string `json:"url,omitempty"`
	MediaType string `json:"mediaType,omitempty"` // The type of a file.
	Filename  string `json:"filename,omitempty"`  // The name of a file.
	SourceID  string `json:"sourceId,omitempty"`  // The id of a source.
	// Title is the title of a source.
	Title string `json:"title,omitempty"`
	// ProviderMetadata is what else is known of a source.
	ProviderMetadata *Cited `json:"providerMetadata,omitempty" nullable:"false"`
	// Data is the content of a data part.
	Data json.RawMessage `json:"data,omitempty"`
	// Parts are the message of a steer.
	Parts []TurnPart `json:"parts,omitempty"`
}

// TurnPart is a part of a message of a user.
type TurnPart struct {
	Type      string `json:"type"`                // text or file.
	Text      string `json:"text,omitempty"`      // The text.
	URL       string `json:"url,omitempty"`       // The address of a file.
	MediaType string `json:"mediaType,omitempty"` // The type of a file.
	Filename  string `json:"filename,omitempty"`  // The name of a file.
}

// Approval is the question of a call, and its answer.
type Approval struct {
	ID            string    `json:"id"`                                       // The question.
	Approved      *bool     `json:"approved,omitempty"      nullable:"false"` // The answer. Left out: none.
	Reason        string    `json:"reason,omitempty"`                         // Why.
	RequestReason string    `json:"requestReason,omitempty"`                  // The question in words.
	Descriptor    *Question `json:"descriptor,omitempty"    nullable:"false"` // More about the question.
}

// Steering is the content of a part of the type data-steering-message, which version 6 gets.
type Steering struct {
	ID    string     `json:"id"`
	Parts []TurnPart `json:"parts"`
}

// SubagentDelta is the content of a data-subagent-delta: a piece of what a nested run says.
type SubagentDelta struct {
	AgentID spool.AgentID `json:"agentId"`
	Delta   string        `json:"delta"`
}

// over reports whether the client has the result of the part's call.
func (p Part) over() bool {
	return p.State == stateOutput || p.State == stateError || p.State == stateDenied
}

// The states of parts.
const (
	stateStreaming = "streaming"
	stateDone      = "done"
	stateInputs    = "input-streaming"
	stateInput     = "input-available"
	stateOutput    = "output-available"
	stateError     = "output-error"
	stateDenied    = "output-denied"
	stateAsked     = "approval-requested"
	stateAnswered  = "approval-responded"
)

const (
	partText     = "text"
	partFile     = "file"
	partReason   = "reasoning"
	partStep     = "step-start"
	partDynamic  = "dynamic-tool"
	prefixTool   = "tool-"
	prefixData   = "data-"
	partSteering = typeSteering
	// A question about a budget is a part of its own.
	nameBudget = "budget"
	partBudget = prefixTool + nameBudget
)

// turnID returns the sending client's own id of a turn, by which the client recognizes it.
func turnID(m spool.Message) string {
	if m.ClientMessageID != "" {
		return m.ClientMessageID
	}
	return string(m.ID)
}

// turnParts returns the parts of a user's message.
func turnParts(c spool.Content, address Address) []TurnPart {
	parts := make([]TurnPart, 0, len(c))
	for _, p := range c {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, TurnPart{Type: partText, Text: p.Text})
		case spool.PartImage:
			parts = append(parts, TurnPart{Type: partFile, URL: address.of(p.Image), MediaType: p.MIMEType})
		case spool.PartFile:
			parts = append(parts, TurnPart{Type: partFile, URL: address.of(p.File), MediaType: p.MIMEType, Filename: p.FileName})
		default:
		}
	}
	return parts
}

// userParts returns the parts of a user's message as those of any message. The files come first, as a client has them.
func userParts(c spool.Content, address Address) []Part {
	parts := make([]Part, 0, len(c))
	turn := turnParts(c, address)
	slices.SortStableFunc(turn, func(a, b TurnPart) int { return cmp.Compare(a.Type, b.Type) }) // file, text
	for _, p := range turn {
		part := Part{Type: p.Type, URL: p.URL, MediaType: p.MediaType, Filename: p.Filename}
		if p.Type == partText {
			part.Text = &p.Text
		}
		parts = append(parts, part)
	}
	return parts
}

// Apply applies a chunk to an assistant's message, as a client does.
func (m *Message) Apply(c Chunk) {
	switch c.Type {
	case typeStart, typeMetadata, typeFinish:
		if c.MessageID != "" {
			m.ID = c.MessageID
		}
		m.describe(c.MessageMetadata)
	case typeStartStep:
		m.Parts = append(m.Parts, Part{Type: partStep})
	case typeResetStep:
		at := len(m.Parts)
		for at > 0 && m.Parts[at-1].Type != partStep {
			at--
		}
		m.Parts = m.Parts[:at]
	case typeTextStart:
		m.Parts = append(m.Parts, Part{Type: partText, Text: new(string), State: stateStreaming})
	case typeReasonStart:
		m.Parts = append(m.Parts, Part{Type: partReason, ID: c.ID, Text: new(string), State: stateStreaming})
	case typeTextDelta, typeReasonDelta:
		if p := m.streaming(); p != nil {
			text := *p.Text + c.Delta
			p.Text = &text
		}
	case typeTextEnd, typeReasonEnd:
		if p := m.streaming(); p != nil {
			p.State = stateDone
		}
	case typeFile:
		m.Parts = append(m.Parts, Part{Type: partFile, URL: c.URL, MediaType: c.MediaType})
	case typeSourceURL, typeSourceDoc:
		m.Parts = append(m.Parts, Part{
			Type: c.Type, SourceID: c.SourceID, URL: c.URL, MediaType: c.MediaType, Title: c.Title,
			ProviderMetadata: c.ProviderMetadata,
		})
	case typeSteering:
		m.Parts = append(m.Parts, Part{Type: partSteering, ID: c.ID, Parts: c.Parts})
	case typeInputStart, typeInput, typeOutput, typeOutputError, typeOutputDenied, typeApproval:
		m.applyCall(c)
	default:
		m.applyData(c)
	}
}

func (m *Message) describe(d *Metadata) {
	if d == nil {
		return
	}
	if m.Metadata == nil {
		m.Metadata = &Metadata{}
	}
	if d.RunID != "" {
		m.Metadata.RunID = d.RunID
	}
	if d.Usage != nil {
		m.Metadata.Usage = d.Usage
	}
	if d.StopReason != "" {
		m.Metadata.StopReason = d.StopReason
	}
	if d.Output != nil {
		m.Metadata.Output = d.Output
	}
	if d.Expired.Questions > 0 {
		m.Metadata.Expired = d.Expired
	}
}

// streaming returns the block that is open. Nil: none is.
func (m *Message) streaming() *Part {
	for i := range slices.Backward(m.Parts) {
		if m.Parts[i].State == stateStreaming {
			return &m.Parts[i]
		}
	}
	return nil
}

func (m *Message) applyCall(c Chunk) {
	at := slices.IndexFunc(m.Parts, func(p Part) bool { return p.ToolCallID == c.ToolCallID })
	if at < 0 {
		at = len(m.Parts)
		p := Part{Type: prefixTool + c.ToolName, ToolCallID: c.ToolCallID}
		if c.Dynamic {
			p.Type, p.ToolName = partDynamic, c.ToolName
		}
		m.Parts = append(m.Parts, p)
	}
	p := &m.Parts[at]
	if c.ProviderExecuted != nil {
		p.ProviderExecuted = c.ProviderExecuted
	}
	if c.ToolMetadata != nil {
		p.ToolMetadata = c.ToolMetadata
	}
	switch c.Type {
	case typeInputStart:
		p.State = stateInputs
	case typeInput:
		p.State, p.Input = stateInput, c.Input
	case typeOutput:
		p.State, p.Output = stateOutput, c.Output
	case typeOutputError:
		p.State, p.ErrorText = stateError, c.ErrorText
	case typeOutputDenied:
		p.State = stateDenied
	default:
		p.State, p.Approval = stateAsked, &Approval{ID: c.ApprovalID, RequestReason: c.Reason, Descriptor: c.Question}
	}
}

func (m *Message) applyData(c Chunk) {
	if c.Data == nil || c.Transient {
		return
	}
	at := slices.IndexFunc(m.Parts, func(p Part) bool { return p.Type == c.Type && p.ID == c.ID && c.ID != "" })
	if at < 0 {
		m.Parts = append(m.Parts, Part{Type: c.Type, ID: c.ID, Data: c.Data})
		return
	}
	m.Parts[at].Data = c.Data
}
