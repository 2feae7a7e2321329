package spool

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"
)

// ArtifactID is the id of an artifact: art_ and 32 hex digits.
type ArtifactID string

// Artifact is a file of a thread that is too large for a message: an attachment, a result of a tool, or a file that a
// tool made. Its data never change.
type Artifact struct {
	ID ArtifactID `json:"id"` // The id, for the URI artifact:art_... and for attachments.
	// Name is the name of the file. Left out: it has none.
	Name string `json:"name,omitempty"`
	// MediaType is the type of the data.
	MediaType string `json:"mediaType"`
	Size      int64  `json:"size"` // The size of the data, in bytes.
}

// NewArtifact is an artifact to save.
type NewArtifact struct {
	// Name is the name of the file for people, such as "report.pdf". Empty: it has none.
	Name string
	// MediaType is the type that the author says. The engine also looks at the data. Empty: the type of the data.
	MediaType string
	// Data are read once, up to their end.
	Data io.Reader
	// Key makes the save idempotent: see [store.ArtifactStore]. The engine sets it.
	Key string
}

// ArtifactIDOf returns the id of an artifact by the key of its save and the SHA-256 of its data. A call that is
// repeated with the same data therefore gets the same artifact.
func ArtifactIDOf(key string, sum [sha256.Size]byte) ArtifactID {
	id := sha256.Sum256([]byte("artifact\x00" + key + "\x00" + string(sum[:])))
	return ArtifactID("art_" + hex.EncodeToString(id[:16]))
}

// URI returns the URI that stands for the artifact's data in a [Part].
func (id ArtifactID) URI() string { return artifactScheme + string(id) }

// ArtifactOf returns the id in a URI of [ArtifactID.URI].
func ArtifactOf(uri string) (ArtifactID, bool) {
	id, ok := strings.CutPrefix(uri, artifactScheme)
	return ArtifactID(id), ok
}

const artifactScheme = "artifact:"
