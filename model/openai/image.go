package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
)

// maxImageURL bounds the URL of an image that is elsewhere, in bytes.
const maxImageURL = 2 << 10

// imageURL returns the URL of a part with an image: a text, or an object with a url.
func imageURL(part json.RawMessage) string {
	var fields struct {
		ImageURL json.RawMessage `json:"image_url"` //nolint:tagliatelle // the provider's word
		URL      word            `json:"url"`
	}
	if json.Unmarshal(part, &fields) != nil {
		return ""
	}
	var from struct {
		URL word `json:"url"`
	}
	switch {
	case len(fields.ImageURL) == 0:
		return string(fields.URL)
	case json.Unmarshal(fields.ImageURL, &from) == nil:
		return string(from.URL)
	default:
		var text word
		_ = json.Unmarshal(fields.ImageURL, &text)
		return string(text)
	}
}

// addImages emits the images of a piece of the answer.
func (a *answer) addImages(d *delta) error {
	var all []string
	if d.Content.images != nil {
		all = *d.Content.images
	}
	for _, raw := range d.Images.v {
		all = append(all, imageURL(raw))
	}
	for _, from := range all {
		if err := a.addImage(from); err != nil {
			return err
		}
	}
	return nil
}

// addImage emits an image. One that is elsewhere becomes a text with its URL: a client would open an image, and so tell
// its address to a server that the model chose.
func (a *answer) addImage(from string) error {
	if err := a.endReasoning(); err != nil {
		return err
	}
	if kind, data, ok := filepart.Decode(from); ok && len(data) > 0 {
		return a.emit(spool.FileMade{MediaType: kind, Data: data})
	}
	text := "[an image that cannot be read]"
	if scheme, _, _ := strings.Cut(from, ":"); len(from) <= maxImageURL &&
		(strings.EqualFold(scheme, "https") || strings.EqualFold(scheme, "http")) {
		text = fmt.Sprintf("[an image at %s, which was not fetched]", from)
	}
	return a.emit(spool.TextDelta{Text: text})
}
