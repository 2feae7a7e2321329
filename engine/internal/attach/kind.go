package attach

import (
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spoolhq/spool"
)

// kinds are the types of files whose URLs end so. A URL with another end is taken for an image's.
var kinds = map[string]string{
	".csv": "text/csv", ".json": "application/json", ".md": "text/markdown", ".pdf": "application/pdf",
	".txt": "text/plain",
}

// kindOfName returns the type of a file by the end of its name if the type is accepted, or an empty string.
func (a *Files) kindOfName(name string) string {
	if kind := kinds[strings.ToLower(path.Ext(name))]; slices.Contains(a.MediaTypes, kind) {
		return kind
	}
	return ""
}

// isImage reports whether a type is an image's. An unknown type is.
func isImage(kind string) bool { return kind == "" || strings.HasPrefix(kind, "image/") }

// inspectText returns an error for a text that a prompt cannot have.
func (a *Files) inspectText(data []byte) error {
	switch {
	case len(data) > a.MaxTextBytes:
		return spool.Errorf(spool.Invalid, "url holds a text of more than %d bytes", a.MaxTextBytes)
	case !utf8.Valid(data):
		return spool.Errorf(spool.Invalid, "url holds a text that is not UTF-8")
	default:
		return nil
	}
}
