package record

import (
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/wire"
)

// Publisher is the publisher of an event: a subject or a tool.
type Publisher struct{ Subject, Tool string }

// maxPublisher bounds the subject of an event, so that the subject fits into the notice of a live
// event.
const maxPublisher = 200

// Sign marks the entry as an event of an application, and writes the publisher into it.
func (p Publisher) Sign(e *wire.Entry) {
	e.Published, e.PublishedBy, e.PublishedByTool = true, strings.ToValidUTF8(p.Subject, ""), p.Tool
	if len(e.PublishedBy) > maxPublisher {
		e.PublishedBy = strings.ToValidUTF8(e.PublishedBy[:maxPublisher], "")
	}
	for len(toolresult.JSON(e.PublishedBy)) > maxPublisher+len(`""`) { // escaped characters take more room
		_, last := utf8.DecodeLastRuneInString(e.PublishedBy)
		e.PublishedBy = e.PublishedBy[:len(e.PublishedBy)-last]
	}
}
