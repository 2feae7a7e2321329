package aisdk

import (
	"path"
	"strings"

	"github.com/spoolhq/spool"
)

// Address returns the URL at which a page reads an artifact of the thread. Nil: its URI is all that is known of it.
type Address func(spool.ArtifactID) string

// of returns what a page opens to see a file: the address of an artifact, or any other URL as it is.
func (a Address) of(uri string) string {
	if id, ok := spool.ArtifactOf(uri); ok && a != nil {
		return a(id)
	}
	return uri
}

// artifact returns the artifact that a URL is the URI or the address of.
func (a Address) artifact(url string) (id spool.ArtifactID, ok bool) {
	if id, ok := spool.ArtifactOf(url); ok {
		return id, true
	}
	before, _, _ := strings.Cut(url, "?")
	id = spool.ArtifactID(path.Base(before))
	return id, a != nil && a(id) == url
}

// file tells the client of a file of the answer. In a step that is redone, a client that cannot forget has it already.
func (e *encoder) file(uri, mediaType string) {
	if e.redo != nil {
		e.cut = !e.redo.once(uri)
		e.endRedo()
		return
	}
	e.rememberOnce(uri)
	e.dirty = true
	e.add(Chunk{Type: typeFile, URL: e.address.of(uri), MediaType: mediaType})
}
