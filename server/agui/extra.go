package agui

import (
	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/projection"
	"github.com/spoolhq/spool/wire"
)

// Extra is what a message has and the protocol has no field for.
type Extra struct {
	// Sources are the pages and documents that the message names. Left out: none.
	Sources []spool.Source `json:"sources,omitempty"`
	Files   []File         `json:"files,omitempty"` // The images and files that the model made. Left out: none.
}

// File is an image or another file that the model made.
type File struct {
	wire.FileShown

	URL string `json:"url,omitempty"` // The address at which a page reads it.
}

// Address returns the URL at which a page reads an artifact of a thread. Nil: files have no URL.
type Address func(spool.ThreadID, spool.ArtifactID) string

// file returns a file of a thread with its URL.
func (a Address) file(thread spool.ThreadID, f wire.FileShown) File {
	if id, ok := spool.ArtifactOf(f.Image + f.File); ok && a != nil { // it has one of the two
		return File{f, a(thread, id)}
	}
	return File{FileShown: f}
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

	File
}

// extraOf returns what a message says of the sources in its content that belong to a call, or to none, and of the
// files of an answer.
func (a Address) extraOf(thread spool.ThreadID, c spool.Content, call spool.ToolCallID) *Metadata[Extra] {
	var sources spool.Content
	var extra Extra
	for _, p := range c {
		switch {
		case p.Type == spool.PartSource && p.ToolCallID == call:
			sources = append(sources, p)
		case p.Type == spool.PartImage, p.Type == spool.PartFile:
			extra.Files = append(extra.Files, a.file(thread,
				wire.FileShown{Image: p.Image, File: p.File, MIMEType: p.MIMEType, FileName: p.FileName}))
		}
	}
	if extra.Sources = sources.Sources(); extra.Sources == nil && extra.Files == nil {
		return nil
	}
	return &Metadata[Extra]{extra}
}
