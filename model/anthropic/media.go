package anthropic

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const typePDF = "application/pdf"

// imageTypes are the types of images that the provider takes.
var imageTypes = []string{"image/jpeg", "image/png", "image/gif", "image/webp"}

// userBlocks returns the blocks of a user's message, or of a summary.
func userBlocks(content spool.Content) []*wireBlock {
	blocks := make([]*wireBlock, 0, len(content))
	for _, p := range content {
		switch p.Type {
		case spool.PartText, spool.PartSummary:
			if strings.TrimSpace(p.Text) != "" {
				blocks = append(blocks, textBlock(p.Text))
			}
		case spool.PartImage:
			blocks = append(blocks, imageBlock(p.Image))
		case spool.PartFile:
			blocks = append(blocks, fileBlock(p))
		case spool.PartReasoning, spool.PartToolCall, spool.PartToolResult, spool.PartProvider, spool.PartSource:
		}
	}
	return blocks
}

// imageBlock returns an image. An image of a type that the provider does not take becomes a text that says so.
func imageBlock(image string) *wireBlock {
	data, isData := parseDataURL(image)
	switch {
	case !isData:
		return &wireBlock{Type: typeImage, Source: &wireSource{Type: "url", URL: image}}
	case slices.Contains(imageTypes, data.kind):
		return &wireBlock{Type: typeImage, Source: data.base64()}
	default:
		return textBlock(fmt.Sprintf("[an image of the type %s, which cannot be shown]", data.kind))
	}
}

// fileBlock returns a document: a PDF by its URL or as data, or a text as data. Another file becomes a text with
// its name and type.
func fileBlock(p spool.Part) *wireBlock {
	data, isData := parseDataURL(p.File)
	kind := plainType(p.MIMEType)
	if isData && (kind == "" || kind == "application/octet-stream") {
		kind = data.kind
	}
	block := &wireBlock{Type: typeDocument, Title: p.FileName}
	switch {
	case kind == typePDF && isData:
		data.kind = kind
		block.Source = data.base64()
		return block
	case kind == typePDF:
		block.Source = &wireSource{Type: "url", URL: p.File}
		return block
	case isData && slices.Contains(imageTypes, kind):
		data.kind = kind
		return &wireBlock{Type: typeImage, Source: data.base64()}
	case isData && isText(kind):
		if text := data.text(); strings.TrimSpace(text) != "" && utf8.ValidString(text) {
			block.Source = &wireSource{Type: "text", MediaType: "text/plain", Data: text}
			return block
		}
	}
	return textBlock(fileNote(p, kind, isData))
}

// fileNote describes a file that the provider does not take.
func fileNote(p spool.Part, kind string, isData bool) string {
	note := "[a file"
	if p.FileName != "" {
		note += fmt.Sprintf(" %q", p.FileName)
	}
	if kind != "" {
		note += " of the type " + kind
	}
	if !isData && p.File != "" {
		note += " at " + p.File
	}
	return note + ", which cannot be shown]"
}

// isText reports whether a type of a file is a text's.
func isText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/sql", "application/x-ndjson", "application/x-sh":
		return true
	default:
		return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
	}
}

func plainType(kind string) string {
	if plain, _, err := mime.ParseMediaType(kind); err == nil {
		return plain
	}
	return ""
}

// dataURL is a data URL (RFC 2397).
type dataURL struct {
	kind    string
	data    string
	encoded bool // in base64
}

func parseDataURL(text string) (dataURL, bool) {
	if len(text) < len("data:") || !strings.EqualFold(text[:len("data:")], "data:") {
		return dataURL{}, false
	}
	head, data, found := strings.Cut(text[len("data:"):], ",")
	if !found {
		return dataURL{}, false
	}
	d := dataURL{data: data}
	head, d.encoded = strings.CutSuffix(head, ";base64")
	if d.kind = plainType(head); d.kind == "" {
		d.kind = "text/plain"
	}
	return d, true
}

func (d dataURL) base64() *wireSource {
	data := d.data
	if !d.encoded {
		data = base64.StdEncoding.EncodeToString([]byte(d.text()))
	}
	return &wireSource{Type: "base64", MediaType: d.kind, Data: data}
}

// text returns the decoded data, or nothing if it is not decodable.
func (d dataURL) text() string {
	if !d.encoded {
		text, err := url.PathUnescape(d.data)
		if err != nil {
			return ""
		}
		return text
	}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(d.data, "="))
	if err != nil {
		return ""
	}
	return string(raw)
}
