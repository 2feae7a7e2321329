package spool

// Attachment is an image of a user turn.
type Attachment struct {
	// URL is an http or https URL of a public host without credentials, or a data URL, whose
	// data has to be what it says: see the engine's AttachmentOptions.
	URL string `doc:"An http, https or data URL." example:"https://example.com/cat.png" json:"url"`
	// MediaType is an image type such as "image/png". Empty: what the URL says, or its data.
	MediaType string `doc:"The type of the image." example:"image/png" json:"mediaType" required:"false"`
}
