package mcp

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/spoolhq/spool"
)

// maxErrorText bounds the text of an error for the model, in bytes.
const maxErrorText = 2000

// part is an element of a result that is not one text.
type part struct {
	Role     string `json:"role,omitempty"` // of a prompt's message
	Type     string `json:"type"`
	Text     string `json:"text,omitempty"`
	URI      string `json:"uri,omitempty"`
	Name     string `json:"name,omitempty"`
	Title    string `json:"title,omitempty"`
	MIMEType string `json:"mimeType,omitempty"`
	// OmittedBytes is the size of data that a model cannot read in a JSON text.
	OmittedBytes int `json:"omittedBytes,omitempty"`
	// NotSaved says why the data are not an artifact.
	NotSaved string `json:"notSaved,omitempty"`
	// Artifact has the data if the engine stores artifacts.
	Artifact *spool.Artifact `json:"artifact,omitempty"`

	data []byte
}

// result returns the JSON of a result: its structured content, or its text as a JSON string, or the list of its
// parts. Images, sounds and files become artifacts if the engine stores them, and otherwise only the type and the
// size remain, also where other parts of the result repeat the data. Links to web pages are sources too. A text that is
// too long is cut. A result with isError is an error with the text.
func (s *Server) result(ctx context.Context, call spool.ToolCall, r *sdk.CallToolResult) (json.RawMessage, error) {
	parts := partsOf(r.Content)
	structured, repeated := withoutData(r.StructuredContent, parts)
	text, onlyText := textOf(parts)
	if r.IsError {
		if text == "" {
			text = "the tool failed"
		}
		return nil, spool.Errorf(spool.Invalid, "%s", cut(s.clean(text), maxErrorText))
	}
	if err := s.saveData(ctx, call, parts); err != nil {
		return nil, err
	}
	if repeated > 0 {
		s.config.Log.InfoContext(ctx, "the result of an MCP server repeats the data of its parts, which is left out",
			"server", s.config.Name, "tool", call.Name, "bytes", repeated)
	}
	var value any
	switch {
	case structured != nil && onlyText: // the text repeats the structured content
		value = structured
	case onlyText:
		value = text
	default:
		value = contentOf(structured, parts)
	}
	most := s.maxResult(call)
	encoded, err := s.encode(value)
	if err != nil || len(encoded) <= most {
		return encoded, err
	}
	s.warnCut(ctx, call, len(encoded))
	switch {
	case onlyText && text == "": // the server gives the structured content alone
		value = cutText(string(encoded), most)
	case onlyText:
		value = cutText(s.clean(text), most)
	default:
		value = s.cutContent(parts, most)
	}
	if encoded, err = s.encode(value); err != nil {
		return nil, err
	}
	if len(encoded) > most {
		return nil, spool.Errorf(spool.Limit, "the tool was executed, but its result is larger than %d bytes", most)
	}
	return encoded, nil
}

func (s *Server) warnCut(ctx context.Context, call spool.ToolCall, size int) {
	s.config.Log.WarnContext(ctx, "the result of an MCP server is too long and was cut", "server", s.config.Name, "tool",
		call.Name, "bytes", size)
}

// encode returns the JSON of a result, without secrets.
func (s *Server) encode(value any) (json.RawMessage, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, spool.Wrap(spool.Invalid,
			"the tool was executed, but the result of MCP server "+s.config.Name+" cannot be encoded", err)
	}
	return s.cleanBytes(encoded), nil
}

// content is a result that has more than its parts.
type content struct {
	Parts      []part    `json:"content"`
	Sources    []webPage `json:"sources,omitempty"`
	Structured any       `json:"structuredContent,omitempty"`
}

// webPage is a web page that a result names. The engine shows those at the top of a result to people.
type webPage struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
}

// contentOf returns a result with parts: the list of the parts if it has nothing else.
func contentOf(structured any, parts []part) any {
	sources := sourcesOf(parts)
	if structured == nil && len(sources) == 0 {
		return parts
	}
	return content{Structured: structured, Parts: parts, Sources: sources}
}

// cutContent returns the parts of a result, and its sources, so that their JSON fits into a number of bytes if it can.
func (s *Server) cutContent(parts []part, most int) any {
	const names = len(`{"content":,"sources":}`)
	sources := sourcesOf(parts)
	if used := sizeOf(sources) + names; len(sources) > 0 && used <= most/2 {
		most -= used
	} else {
		sources = nil
	}
	kept := cutParts(parts, most, s.clean)
	switch {
	case len(kept) == 0: // it is too large as it is
		return parts
	case sources == nil:
		return kept
	default:
		return content{Parts: kept, Sources: sources}
	}
}

const (
	// maxSources bounds the sources of a result, and maxURL and maxTitle their texts, in bytes.
	maxSources = 100
	maxURL     = 2 << 10
	maxTitle   = 300
)

// sourcesOf returns the web pages that links of a result name, each once. Nobody fetches them.
func sourcesOf(parts []part) (sources []webPage) {
	seen := make(map[string]bool)
	for _, p := range parts {
		if p.Type != "resource_link" || seen[p.URI] || len(sources) == maxSources || !isWebPage(p.URI) {
			continue
		}
		seen[p.URI] = true
		sources = append(sources, webPage{URL: p.URI, Title: cut(cmp.Or(p.Title, p.Name), maxTitle)})
	}
	return sources
}

// isWebPage reports whether a URI is an http or https URL that a person may open.
func isWebPage(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && len(uri) <= maxURL && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
}

// minRepeated is the length of base64 from which on it is worth to look for repeats.
const minRepeated = 64

// withoutData returns structured content, and changes the texts of the parts, so that neither repeats the base64 of a
// part's data. It returns the number of bytes that are left out. It looks each run of base64 up among those of the
// parts, so its time grows with the size of the result and not with the number of its parts.
func withoutData(structured any, parts []part) (any, int) {
	marks := make(map[string]string)
	for _, p := range parts {
		if encoded := base64.StdEncoding.EncodeToString(p.data); len(encoded) >= minRepeated {
			marks[encoded] = fmt.Sprintf("[the %d bytes of the part of type %s are left out]", len(p.data), p.Type)
		}
	}
	if len(marks) == 0 {
		return structured, 0
	}
	omitted := 0
	plain := func(text string) string {
		return base64Runs.ReplaceAllStringFunc(text, func(run string) string {
			mark, repeated := marks[run]
			if !repeated {
				return run
			}
			omitted += len(run)
			return mark
		})
	}
	for i := range parts {
		parts[i].Text = plain(parts[i].Text)
	}
	return eachText(structured, plain), omitted
}

var base64Runs = regexp.MustCompile(`[A-Za-z0-9+/]{60,}={0,2}`)

// eachText returns decoded JSON with fn of each of its texts.
func eachText(value any, fn func(string) string) any {
	switch value := value.(type) {
	case string:
		return fn(value)
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = eachText(v, fn)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, v := range value {
			out[name] = eachText(v, fn)
		}
		return out
	default:
		return value
	}
}

// minText is what a text may keep of its JSON at least, in bytes, before a part is left out as a whole.
const minText = 64

// cutParts returns the parts with their longest texts cut to one length, so that their JSON fits into a number of
// bytes. Parts that do not fit even so are left out, from the end if there are too many. Its time is linear in the
// size of the parts, apart from a sort.
func cutParts(parts []part, most int, clean func(string) string) []part {
	const reserved = 100 // for the brackets, and for the part that says what is left out
	room := most - reserved
	out, spare := make([]part, 0, len(parts)), make([]int, 0, len(parts)) // how much longer than minText the texts are
	for _, p := range parts {
		text := sizeOf(p.Text)
		bare := p
		bare.Text = ""
		need := sizeOf(bare) + min(text, minText) + len(`,"text":`) + 1
		if need > room {
			continue
		}
		room -= need
		out, spare = append(out, p), append(spare, max(0, text-minText))
	}
	length := minText + level(spare, room)
	for i, p := range out {
		if spare[i]+minText > length {
			out[i].Text = cutText(clean(p.Text), length)
		}
	}
	if left := len(parts) - len(out); left > 0 && len(out) > 0 {
		out = append(out, part{Type: "text", Text: fmt.Sprintf("[%d more parts were left out]", left)})
	}
	return out
}

// level returns the largest number to which all larger ones can be cut so that their sum fits into room.
func level(sizes []int, room int) int {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, size := range sizes {
		if share := room / (len(sizes) - i); size > share {
			return share
		}
		room -= size
	}
	return math.MaxInt / 2
}

// sizeOf returns the length of the JSON of a value that has some.
func sizeOf(value any) int {
	encoded, _ := json.Marshal(value) //nolint:errchkjson // texts and parts always have some
	return len(encoded)
}

// cutText returns a text whose JSON fits into a number of bytes.
func cutText(text string, most int) string {
	const mark = "\n[the rest was cut]"
	encoded, err := json.Marshal(text)
	if err != nil || len(encoded) <= most {
		return text
	}
	// A character takes up to six bytes more in JSON than in the text. Shorten in proportion until it fits.
	for len(encoded) > most && text != "" {
		text = cut(text, len(text)*most/(len(encoded)+len(mark)+2)*15/16)
		if encoded, err = json.Marshal(text + mark); err != nil {
			return mark
		}
	}
	return text + mark
}

func partsOf(contents []sdk.Content) []part {
	parts := make([]part, 0, len(contents))
	for _, c := range contents {
		switch c := c.(type) {
		case *sdk.TextContent:
			parts = append(parts, part{Type: "text", Text: c.Text})
		case *sdk.ImageContent:
			parts = append(parts, part{Type: "image", MIMEType: c.MIMEType, OmittedBytes: len(c.Data), data: c.Data})
		case *sdk.AudioContent:
			parts = append(parts, part{Type: "audio", MIMEType: c.MIMEType, OmittedBytes: len(c.Data), data: c.Data})
		case *sdk.ResourceLink:
			parts = append(parts, part{
				Type: "resource_link", URI: c.URI, Name: c.Name, Title: c.Title, MIMEType: c.MIMEType, Text: c.Description,
			})
		case *sdk.EmbeddedResource:
			if c.Resource == nil {
				c.Resource = &sdk.ResourceContents{Text: "[this part has no resource]"}
			}
			parts = append(parts, resourcePart(c.Resource))
		case *unreadable:
			parts = append(parts, part{Type: c.kind, Text: c.Text})
		default:
			parts = append(parts, part{Type: "unknown"})
		}
	}
	return parts
}

func resourcePart(r *sdk.ResourceContents) part {
	return part{Type: "resource", URI: r.URI, MIMEType: r.MIMEType, Text: r.Text, OmittedBytes: len(r.Blob), data: r.Blob}
}

// textOf returns the texts of the parts, and whether there are no other parts.
func textOf(parts []part) (string, bool) {
	var texts []string
	only := true
	for _, p := range parts {
		if p.Type == "text" {
			texts = append(texts, p.Text)
		} else {
			only = false
		}
	}
	return strings.ToValidUTF8(strings.Join(texts, "\n"), "\ufffd"), only
}
