package gemini

import (
	"cmp"
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
)

// mediaParts returns the texts, images and files of a content. Data URLs are sent inline. The API fetches other URLs
// itself: it takes public https URLs, signed ones, and those of its Files API, as
// https://ai.google.dev/gemini-api/docs/file-input-methods says.
func mediaParts(content spool.Content) ([]any, error) {
	parts := make([]any, 0, len(content))
	for _, p := range content {
		switch p.Type {
		case spool.PartText:
			parts = append(parts, textParts(p.Text)...)
		case spool.PartImage, spool.PartFile:
			if p.Type == spool.PartFile && !acceptsFile(filepart.KindOf(p)) {
				parts = append(parts, textParts(filepart.Note(p))...)
				continue
			}
			if text, ok := filepart.Text(p); ok && p.Type == spool.PartFile {
				parts = append(parts, textParts(text)...)
				continue
			}
			encoded, err := mediaPart(cmp.Or(p.Image, p.File), p.MIMEType)
			if err != nil {
				return nil, err
			}
			parts = append(parts, encoded)
		case spool.PartReasoning, spool.PartToolCall, spool.PartToolResult, spool.PartProvider, spool.PartSummary,
			spool.PartSource:
		}
	}
	return parts, nil
}

// acceptsFile reports whether the API takes files of a type: PDFs, texts, images, sounds and videos. It may take
// a file whose type is not known.
func acceptsFile(kind string) bool {
	family, _, _ := strings.Cut(kind, "/")
	return kind == "" || kind == "application/pdf" || filepart.IsText(kind) ||
		slices.Contains([]string{"image", "audio", "video"}, family)
}

func mediaPart(from, mimeType string) (part, error) {
	header, data, isData := strings.Cut(from, ",")
	if len(header) < 5 || !strings.EqualFold(header[:5], "data:") {
		return part{File: &file{MIMEType: cmp.Or(mimeType, typeOf(from)), URI: from}}, nil
	}
	if !isData {
		return part{}, &spool.ModelError{
			Status: http.StatusBadRequest, Message: "an image or a file of the prompt is a malformed data URL",
		}
	}
	header, isBase64 := strings.CutSuffix(header[5:], ";base64")
	if !isBase64 {
		text, err := url.PathUnescape(data)
		if err != nil {
			return part{}, &spool.ModelError{
				Status: http.StatusBadRequest, Message: "an image or a file of the prompt is a malformed data URL", Err: err,
			}
		}
		data = base64.StdEncoding.EncodeToString([]byte(text))
	}
	header, _, _ = strings.Cut(header, ";") // without a charset
	return part{Inline: &blob{MIMEType: cmp.Or(mimeType, header, "text/plain"), Data: data}}, nil
}

// typeOf guesses the type of a file from the end of its URL. It returns an empty string if it cannot.
func typeOf(from string) string {
	u, err := url.Parse(from)
	if err != nil {
		return ""
	}
	kind, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(u.Path)), ";")
	return kind
}
