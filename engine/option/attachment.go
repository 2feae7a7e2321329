package option

import (
	"cmp"
	"mime"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/internal/filepart"
)

// Attachments say which images and files a user turn may have, and who fetches them.
type Attachments struct {
	// Egress says which hosts an http or https URL may name. With Fetch, it also says which addresses
	// the engine connects to, redirects included. Defaults to public addresses.
	Egress egress.Policy
	// Fetch makes the engine fetch images and files by http and https when a step needs them, and send the
	// data to the model. The store keeps the URL. By default, the model gets the URL, and its provider
	// fetches the file.
	Fetch bool
	// FetchTimeout bounds the fetch of one file, redirects included. Defaults to 15 s.
	FetchTimeout time.Duration
	// MaxBytes bounds the size of one file. Defaults to 5 MiB.
	MaxBytes int
	// MaxCount bounds the number of files in a user turn. Defaults to 8.
	MaxCount int
	// MaxInlineBytes bounds the size of a data URL in a message, if [engine.Config.Artifacts] is set. The data of a
	// longer one are saved as an artifact. Defaults to 16 KiB.
	MaxInlineBytes int
	// MaxPromptBytes bounds the data of artifacts in one request to a model. The newest have the room, and of
	// the others the model reads the names. Defaults to 20 MiB.
	MaxPromptBytes int
	// MaxPixels bounds the width times the height of an image, if its format states them. Defaults to
	// 50 million.
	MaxPixels int
	// MaxTextBytes bounds the size of a text file, which becomes a part of the prompt. Defaults to 256 KiB.
	MaxTextBytes int
	// MediaTypes lists the accepted media types: types of images and texts, and application/pdf. Defaults to
	// image/png, image/jpeg, image/gif, image/webp, application/pdf, text/plain, text/markdown, text/csv and
	// application/json.
	MediaTypes []string
}

func (o *Attachments) fill() error {
	if len(o.MediaTypes) == 0 {
		o.MediaTypes = []string{
			"image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf", "text/plain", "text/markdown", "text/csv",
			"application/json",
		}
	}
	for _, t := range o.MediaTypes {
		if kind, _, err := mime.ParseMediaType(t); err != nil || kind != t || !readable(t) {
			return spool.Errorf(spool.Invalid, "Config.Attachments.MediaTypes has %q, which no model reads", t)
		}
	}
	return cmp.Or(
		or("Attachments.FetchTimeout", &o.FetchTimeout, 15*time.Second),
		or("Attachments.MaxBytes", &o.MaxBytes, 5<<20),
		or("Attachments.MaxCount", &o.MaxCount, 8),
		or("Attachments.MaxTextBytes", &o.MaxTextBytes, 256<<10),
		or("Attachments.MaxInlineBytes", &o.MaxInlineBytes, 16<<10),
		or("Attachments.MaxPromptBytes", &o.MaxPromptBytes, 20<<20),
		or("Attachments.MaxPixels", &o.MaxPixels, 50_000_000),
	)
}

// readable reports whether a type is an image's, a PDF's or a text's.
func readable(kind string) bool {
	return strings.HasPrefix(kind, "image/") || kind == "application/pdf" || filepart.IsText(kind)
}
