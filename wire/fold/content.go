package fold

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Act is what an item does to a part of a message.
type Act uint8

// The acts. A part that only Grows or Ends begins with that.
const (
	Begins Act = iota
	Grows
	Ends
	// Whole is the act of an item that has its whole part, and of the result of a call.
	Whole
)

// Content is what an item says for the message of its agent's step.
type Content struct {
	Act Act
	// Type is the type of the part.
	Type spool.PartType
	// ID is the name of a text in its stream, or the id of a call.
	ID string
	// Delta is what a part grows by: its text, or the arguments of a call as text.
	Delta string
	// Part is what the item has of the part. Nil: a text, or a piece of arguments.
	Part *spool.Part
	// Sources are those that the result of a call names.
	Sources []spool.Source
}

// contents are the kinds of item that are content.
var contents = map[wire.ItemType]Content{
	wire.ItemTextStart:        {Type: spool.PartText},
	wire.ItemTextContent:      {Type: spool.PartText, Act: Grows},
	wire.ItemTextEnd:          {Type: spool.PartText, Act: Ends},
	wire.ItemReasoningStart:   {Type: spool.PartReasoning},
	wire.ItemReasoningContent: {Type: spool.PartReasoning, Act: Grows},
	wire.ItemReasoningEnd:     {Type: spool.PartReasoning, Act: Ends},
	wire.ItemToolStart:        {Type: spool.PartToolCall},
	wire.ItemToolArgs:         {Type: spool.PartToolCall, Act: Grows},
	wire.ItemToolEnd:          {Type: spool.PartToolCall, Act: Ends},
	wire.ItemToolResult:       {Type: spool.PartToolResult, Act: Whole},
	wire.ItemSource:           {Type: spool.PartSource, Act: Whole},
	wire.ItemFile:             {Type: spool.PartFile, Act: Whole},
}

// ContentOf returns the content of an item. It reports false for an item that is none.
func ContentOf(item wire.Item) (c Content, ok bool, err error) {
	c, ok = contents[item.Type]
	switch {
	case !ok:
		return c, false, nil
	case c.Type == spool.PartText || c.Type == spool.PartReasoning:
		d, err := fields[wire.Delta](item) // also reads a [wire.Block]
		c.ID, c.Delta = d.MessageID, d.Delta
		return c, true, err
	case c.Act == Grows:
		a, err := fields[wire.ToolArgs](item)
		c.ID, c.Delta = string(a.ToolCallID), a.Delta
		return c, true, err
	}
	in, err := fields[struct { // the fields of all other kinds
		spool.Part

		Sources []spool.Source `json:"sources"`
	}](item)
	if in.Image != "" {
		c.Type = spool.PartImage
	}
	in.Type = c.Type
	c.ID, c.Part, c.Sources = string(in.ToolCallID), &in.Part, in.Sources
	return c, true, err
}
