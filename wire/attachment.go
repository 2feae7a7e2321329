package wire

import (
	"github.com/spoolhq/spool"
)

// Attachment is an image or another file of a user turn.
type Attachment struct {
	// URL is an http or https URL of a public host without credentials, or a data URL whose data has the
	// declared type: see the engine's AttachmentOptions. Empty: the attachment is an artifact.
	URL string `doc:"An http, https or data URL. Left out: the attachment is an artifact." example:"https://example.com/cat.png" json:"url,omitempty"`
	// ArtifactID is an artifact of the thread, instead of a URL.
	ArtifactID spool.ArtifactID `doc:"An artifact of the thread, instead of a URL." json:"artifactId,omitempty"`
	// MediaType is a type such as "image/png" or "application/pdf". Empty: the type that the URL or its data
	// has.
	MediaType string `doc:"The type of the image or the file." example:"image/png" json:"mediaType" required:"false"`
	// Name is the name of a file that is not an image, for the model and for clients, in up to 200
	// characters. Empty: it has none.
	Name string `doc:"The name of a file that is not an image." example:"report.pdf" json:"name,omitempty"`
}
