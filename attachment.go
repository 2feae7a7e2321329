package spool

// Attachment is an image of a user turn.
type Attachment struct {
	// URL is an http or https URL of a public host without credentials, or a data URL whose data has the
	// declared type: see the engine's AttachmentOptions.
	URL string `doc:"An http, https or data URL." example:"https://example.com/cat.png" json:"url"`
	// MediaType is an image type such as "image/png". Empty: the type that the URL or its data has.
	MediaType string `doc:"The type of the image." example:"image/png" json:"mediaType" required:"false"`
}
