package spool

// Source is a page or a document that supports what a message says, or that a tool has read. The engine never opens
// its URL, and keeps it only if it is an absolute one with http or https.
//
// A [Model] yields a source that its answer names, at any time before the answer's end. The spans then count the
// characters of all text deltas of the answer joined. The engine checks the source, joins those that are equal, and
// adds them to the end of the message.
type Source struct {
	// URL is the address of the page, with http or https. Left out: it is a document, or has no address to open.
	URL string `json:"url,omitempty"`
	// Title is the title, or the name of the file. Left out: none, and there is a URL.
	Title string `json:"title,omitempty"`
	// Spans are the pieces of the message's text that it supports, in order. Left out: it is not known which.
	Spans []Span `json:"spans,omitempty"`
}

// Span is a piece of the text of a message: its text parts joined, as [Message.Text] returns them. It counts
// characters, which are Unicode code points: not bytes, and not the UTF-16 units of JavaScript's strings.
type Span struct {
	// Start is the first character, counted in Unicode code points of the message's text parts joined, from 0.
	Start int `json:"start" minimum:"0"`
	End   int `json:"end"   minimum:"1"` // The character behind the last one, counted alike.
}

// SourcePart returns the part of a message with a source. Call is the call whose result has named it. Empty: the model
// has named it.
func SourcePart(s Source, call ToolCallID) Part {
	return Part{Type: PartSource, ToolCallID: call, URL: s.URL, Title: s.Title, Spans: s.Spans}
}

// Sources returns the sources that the message names, in order.
func (c Content) Sources() []Source {
	var out []Source
	for _, p := range c {
		if p.Type == PartSource {
			out = append(out, Source{p.URL, p.Title, p.Spans})
		}
	}
	return out
}
