package wire

import (
	"github.com/spoolhq/spool"
)

// Attachment is an image or another file of a user turn.
type Attachment struct {
	// URL is an http, https or data URL. Left out: the attachment is an artifact.
	//
	// A URL has a public host and no credentials, and the data of a data URL have the declared type: see the
	// engine's AttachmentOptions.
	URL string `example:"https://example.com/cat.png" json:"url,omitempty"`
	// ArtifactID is an artifact of the thread, instead of a URL.
	ArtifactID spool.ArtifactID `json:"artifactId,omitempty"`
	// MediaType is the type of the image or the file.
	//
	// Such as "image/png" or "application/pdf". Empty: the type that the URL or its data has.
	MediaType string `example:"image/png" json:"mediaType" required:"false"`
	// Name is the name of a file that is not an image.
	//
	// For the model and for clients, in up to 200 characters.
	Name string `example:"report.pdf" json:"name,omitempty"`
}
