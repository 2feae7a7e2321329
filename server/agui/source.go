package agui

import (
	"encoding/json"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
)

// Cited has the sources of a message, for which the protocol has no field.
type Cited struct {
	Sources []spool.Source `doc:"The pages and documents that the message names." json:"sources"`
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

// sourcesOf returns what a message says of the sources in its content that belong to a call, or to none.
func sourcesOf(c spool.Content, call spool.ToolCallID) *Metadata[Cited] {
	var own spool.Content
	for _, p := range c {
		if p.Type == spool.PartSource && p.ToolCallID == call {
			own = append(own, p)
		}
	}
	if own == nil {
		return nil
	}
	return &Metadata[Cited]{Cited{own.Sources()}}
}

// cite adds a source to its message, if the messages have it.
func cite(messages []Message, e Custom) {
	var c citedEvent
	if e.Name != string(spool.ItemSource) || json.Unmarshal(e.Value, &c) != nil { //nolint:forbidigo // an event of this package
		return
	}
	m := find(messages, c.MessageID)
	if m == nil {
		return
	}
	var cited Cited
	if m.Metadata != nil {
		cited = m.Metadata.Spool
	}
	m.Metadata = &Metadata[Cited]{Cited{append(slices.Clip(cited.Sources), c.Source)}}
}
