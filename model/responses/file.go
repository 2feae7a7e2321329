package responses

import (
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
)

// filePart returns a file as a part of an input. Data needs a name, and the server reads the type from
// both. A text file becomes a text, and any other file than a PDF a text with its name.
func filePart(p spool.Part) object {
	if text, ok := filepart.Text(p); ok {
		return object{"type": "input_text", "text": text}
	}
	switch kind := filepart.KindOf(p); {
	case !filepart.IsData(p.File):
		return object{"type": "input_file", "file_url": p.File}
	case strings.HasPrefix(kind, "image/"):
		return object{"type": "input_image", "image_url": p.File, "detail": "auto"}
	case kind != "" && kind != "application/pdf":
		return object{"type": "input_text", "text": filepart.Note(p)}
	}
	name := p.FileName
	if name == "" {
		name = "file"
		if p.MIMEType == "application/pdf" || strings.HasPrefix(p.File, "data:application/pdf") {
			name = "file.pdf"
		}
	}
	return object{"type": "input_file", "filename": name, "file_data": p.File}
}
