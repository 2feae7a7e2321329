package toolresult

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// previewBytes bounds the preview of a result that is an artifact.
const previewBytes = 2 << 10

// AsText returns a result as a file: the text of a JSON string, or the JSON, with its media type and the end of its
// name.
func AsText(result json.RawMessage) (text, mediaType, extension string) {
	if len(result) > 0 && result[0] == '"' && json.Unmarshal(result, &text) == nil {
		return text, "text/plain", ".txt"
	}
	return string(result), "application/json", ".json"
}

// Stored returns the result of a call whose own result is an artifact: the artifact, and the beginning of its text.
func Stored(a spool.Artifact, text string) json.RawMessage {
	return JSON(struct {
		Artifact spool.Artifact `json:"artifact"`
		Preview  string         `json:"preview"`
	}{a, Beginning(text, previewBytes)})
}

// Beginning returns at most n bytes from the beginning of a text, without a part of a character.
func Beginning(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "")
}

// maxArtifacts bounds the artifacts of a result. Further ones are not looked at.
const maxArtifacts = 32

// ArtifactsOf returns the artifacts that a result names: those whose ids are in an object under the key "artifact",
// at any depth. A tool may have made them up. They have an id and a type only.
func ArtifactsOf(result json.RawMessage) []spool.Artifact {
	if !MayHaveArtifacts(result) {
		return nil
	}
	var value any
	if json.Unmarshal(result, &value) != nil {
		return nil
	}
	named := appendArtifacts(nil, value)
	return named[:min(len(named), maxArtifacts)]
}

// MayHaveArtifacts reports whether [ArtifactsOf] has to look. Nearly no result has artifacts.
func MayHaveArtifacts(result json.RawMessage) bool {
	return bytes.Contains(result, []byte(`"artifact"`))
}

func appendArtifacts(named []spool.Artifact, value any) []spool.Artifact {
	switch value := value.(type) {
	case []any:
		for _, v := range value {
			named = appendArtifacts(named, v)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			one, _ := value[key].(map[string]any)
			if id, ok := one["id"].(string); ok && key == "artifact" {
				kind, _ := one["mediaType"].(string)
				named = append(named, spool.Artifact{ID: spool.ArtifactID(id), MediaType: kind})
				continue
			}
			named = appendArtifacts(named, value[key])
		}
	}
	return named
}
