package endpoint

import (
	"bytes"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/unicode"

	"github.com/spoolhq/spool/internal/filepart"
)

// marks are the byte order marks, with the charsets that they name.
var marks = []struct {
	bytes   string
	charset encoding.Encoding
}{
	{"\xef\xbb\xbf", unicode.UTF8},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
}

// textOf returns an answer as UTF-8 if it is JSON or a text. A byte order mark says its charset, or else the content
// type; a text without a charset that is not UTF-8 is windows-1252, as for browsers. An answer that its charset does
// not explain is no text, so that nothing of it is lost.
func textOf(contentType string, body []byte) (text []byte, ok bool) {
	kind, fields, err := mime.ParseMediaType(contentType)
	if err != nil {
		kind, fields = "", nil
	}
	if len(body) == 0 {
		return nil, true
	}
	if isMedia(kind) {
		return nil, false
	}
	for _, m := range marks {
		if remaining, ok := bytes.CutPrefix(body, []byte(m.bytes)); ok {
			return decoded(m.charset, remaining)
		}
	}
	charset := fields["charset"]
	switch {
	case charset == "" && utf8.Valid(body):
		return body, true
	case charset == "" && filepart.IsText(kind) && kind != "application/json":
		return decoded(charmap.Windows1252, body)
	case charset == "":
		return nil, false
	}
	known, err := htmlindex.Get(charset)
	if err != nil { // not known
		return body, utf8.Valid(body)
	}
	return decoded(known, body)
}

// isMedia reports whether data of a media type are no text, also if they are UTF-8 by chance.
func isMedia(kind string) bool {
	family, sub, _ := strings.Cut(kind, "/")
	switch family {
	case "image":
		return !strings.HasSuffix(sub, "+xml")
	case "audio", "video", "font", "multipart":
		return true
	default:
		return kind == "application/pdf" || kind == "application/zip"
	}
}

// decoded returns a text as UTF-8, or false if the charset has no characters for some of its bytes. In a charset of
// single bytes, almost any data could be a text, so decoded returns false for data with control characters.
func decoded(from encoding.Encoding, body []byte) ([]byte, bool) {
	if from == unicode.UTF8 {
		return body, utf8.Valid(body)
	}
	text, err := from.NewDecoder().Bytes(body)
	if err != nil || bytes.ContainsFunc(text, func(r rune) bool {
		return r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\b\t\n\f\r\x1b", r) || 0x7f <= r && r < 0xa0
	}) {
		return nil, false
	}
	return text, true
}
