// Package filepart says what models read about the files of a prompt: the text of a text file, and a note in
// place of a file that their provider does not take. It is pure.
package filepart

import (
	"encoding/base64"
	"fmt"
	"mime"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

const scheme = "data:"

// IsData reports whether a URL is a data URL.
func IsData(from string) bool {
	return len(from) >= len(scheme) && strings.EqualFold(from[:len(scheme)], scheme)
}

// Decode returns the type and the data of a data URL (RFC 2397). The type has no parameters, and defaults to
// text/plain.
func Decode(from string) (kind string, data []byte, ok bool) {
	if !IsData(from) {
		return "", nil, false
	}
	head, text, found := strings.Cut(from[len(scheme):], ",")
	if !found {
		return "", nil, false
	}
	head, encoded := strings.CutSuffix(head, ";base64")
	if kind = Plain(head); kind == "" {
		kind = "text/plain"
	}
	plain, err := url.PathUnescape(text)
	if err != nil || !encoded {
		return kind, []byte(plain), err == nil
	}
	data, err = base64.RawStdEncoding.DecodeString(strings.TrimRight(plain, "="))
	return kind, data, err == nil
}

// Plain returns a media type without its parameters, or an empty string if the text is not a media type.
func Plain(kind string) string {
	if plain, _, err := mime.ParseMediaType(kind); err == nil {
		return plain
	}
	return ""
}

// KindOf returns the type of a file part: its own type, or the type of its data, or an empty string.
func KindOf(p spool.Part) string {
	kind := Plain(p.MIMEType)
	if kind != "" && kind != "application/octet-stream" || !IsData(p.File) {
		return kind
	}
	head, _, _ := strings.Cut(p.File[len(scheme):], ",")
	head, _ = strings.CutSuffix(head, ";base64")
	return Plain(head)
}

// IsText reports whether a media type without parameters is a text's.
func IsText(kind string) bool {
	switch kind {
	case "application/json", "application/xml", "application/yaml", "application/x-yaml", "application/toml",
		"application/javascript", "application/sql", "application/x-ndjson", "application/x-sh":
		return true
	default:
		if strings.HasPrefix(kind, "image/") { // image/svg+xml
			return false
		}
		return strings.HasPrefix(kind, "text/") || strings.HasSuffix(kind, "+json") || strings.HasSuffix(kind, "+xml")
	}
}

// Text returns a text file with its name as a text of the prompt. Ok is false for any other file, and for a
// file without its data.
func Text(p spool.Part) (text string, ok bool) {
	if !IsText(KindOf(p)) {
		return "", false
	}
	_, data, ok := Decode(p.File)
	if !ok || !utf8.Valid(data) {
		return "", false
	}
	name := p.FileName
	if name == "" {
		name = "without a name"
	}
	return fmt.Sprintf("The file %q:\n\n%s\n", name, data), true
}

// Note describes a file that the provider does not take.
func Note(p spool.Part) string {
	note := "[a file"
	if p.FileName != "" {
		note += fmt.Sprintf(" %q", p.FileName)
	}
	if kind := KindOf(p); kind != "" {
		note += " of the type " + kind
	}
	if !IsData(p.File) && p.File != "" {
		note += " at " + p.File
	}
	return note + ", which cannot be shown]"
}
