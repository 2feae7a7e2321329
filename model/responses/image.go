package responses

import (
	"encoding/base64"
	"encoding/json"

	"github.com/spoolhq/spool"
)

// imageOf returns the image of an item, or nil if it has none. The provider does not want the item back: see
// [Model.provided].
func imageOf(kind string, item json.RawMessage) *spool.FileMade {
	if kind != typeImage {
		return nil
	}
	var image struct {
		Result string `json:"result"`
		Format string `json:"output_format"` //nolint:tagliatelle // the provider's word
	}
	if json.Unmarshal(item, &image) != nil {
		return nil
	}
	data, err := base64.StdEncoding.DecodeString(image.Result)
	if err != nil || len(data) == 0 {
		return nil
	}
	file := &spool.FileMade{Data: data, MediaType: "image/png"}
	if image.Format != "" {
		file.MediaType = "image/" + image.Format
	}
	return file
}

// typeImage is the type of an item with an image that the provider made.
const typeImage = "image_generation_call"
