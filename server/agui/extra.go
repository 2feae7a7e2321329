package agui

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
)

// Extra is what a message has and the protocol has no field for.
type Extra struct {
	Sources []spool.Source    `doc:"The pages and documents that the message names. Left out: none." json:"sources,omitempty"`
	Files   []spool.FileShown `doc:"The images and files that the model made. Left out: none."       json:"files,omitempty"`
}

// citedEvent is the value of the event SOURCE.
type citedEvent struct {
	MessageID  string           `json:"messageId"`
	ToolCallID spool.ToolCallID `json:"toolCallId,omitempty"`

	spool.Source
}

func citedOf(c projection.Cited) citedEvent {
	id := messageID(c.Run, c.Step)
	if c.Call != "" {
		id = resultID(c.Run, c.Step, c.Call)
	}
	return citedEvent{id, c.Call, c.Source}
}

// fileEvent is the value of the event FILE.
type fileEvent struct {
	MessageID string `json:"messageId"`

	spool.FileShown
}

// extraOf returns what a message says of the sources in its content that belong to a call, or to none, and of the files of an
// answer.
func extraOf(c spool.Content, call spool.ToolCallID) *Metadata[Extra] {
	var sources spool.Content
	var extra Extra
	for _, p := range c {
		switch {
		case p.Type == spool.PartSource && p.ToolCallID == call:
			sources = append(sources, p)
		case p.Type == spool.PartImage, p.Type == spool.PartFile:
			extra.Files = append(extra.Files, spool.FileShown{Image: p.Image, File: p.File, MIMEType: p.MIMEType, FileName: p.FileName})
		}
	}
	if extra.Sources = sources.Sources(); extra.Sources == nil && extra.Files == nil {
		return nil
	}
	return &Metadata[Extra]{extra}
}

// addExtra adds a source or a file to its message. A file begins the message if it is not there, as a text does.
func addExtra(messages []Message, e Custom) []Message {
	var in struct {
		citedEvent
		spool.FileShown
	}
	isFile := e.Name == string(spool.ItemFile)
	if !isFile && e.Name != string(spool.ItemSource) || json.Unmarshal(e.Value, &in) != nil { //nolint:forbidigo // an event of this package
		return messages
	}
	m := find(messages, in.MessageID)
	switch {
	case m == nil && !isFile:
		return messages
	case m == nil:
		messages = append(messages, Message{ID: in.MessageID, Role: spool.RoleAssistant})
		m = find(messages, in.MessageID)
	}
	var extra Extra
	if m.Metadata != nil {
		extra = m.Metadata.Spool
	}
	if isFile {
		extra.Files = append(slices.Clip(extra.Files), in.FileShown)
	} else {
		extra.Sources = append(slices.Clip(extra.Sources), in.Source)
	}
	m.Metadata = &Metadata[Extra]{extra}
	return messages
}
