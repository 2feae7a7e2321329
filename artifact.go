package spool

import (
	"context"
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
	ID ArtifactID `doc:"The id, for the URI artifact:art_... and for attachments." json:"id"`
	// Name is the name of the file for people. Empty: it has none.
	Name string `doc:"The name of the file. Left out: it has none." json:"name,omitempty"`
	// MediaType is the type of the data, without parameters.
	MediaType string `doc:"The type of the data."           json:"mediaType"`
	Size      int64  `doc:"The size of the data, in bytes." json:"size"`
}

// FileDropped is the payload of [EntryFileDropped]. A run has one for each file and model, and one for each model whose
// server refuses the files of all results.
type FileDropped struct {
	// AgentID is the nested run. Nil: the dispatched run.
	AgentID *AgentID `doc:"The nested run. Left out: the run itself." json:"agentId,omitempty" nullable:"false"`
	// Step is the step whose request is the first without the file, from 1.
	Step int `doc:"The step whose request is the first without the file, from 1." json:"step"`
	// ArtifactID is the file. Empty: the images and files of all results.
	ArtifactID ArtifactID `doc:"The file. Left out: the images and files of all results." json:"artifactId,omitempty"`
	Model      string     `doc:"The model, by its configured name."                       json:"model"`
	Text       string     `doc:"What the model reads in place of the file."               json:"text"`
}

// NewArtifact is an artifact to save.
type NewArtifact struct {
	// Name is the name of the file for people, such as "report.pdf". Empty: it has none.
	Name string
	// MediaType is the type that the author says. The engine also looks at the data. Empty: the type of the data.
	MediaType string
	// Data are read once, up to their end.
	Data io.Reader
	// Key makes the save idempotent: see [ArtifactStore]. The engine sets it.
	Key string
}

// ArtifactStore stores the artifacts of threads. The engine has checked that the caller may use the thread, which may
// not exist yet. It is safe for concurrent use, also by several processes.
//
// A store has one artifact for the same thread, key and data: see [ArtifactIDOf].
type ArtifactStore interface {
	// SaveArtifact saves an artifact, which is durable when it returns. It returns a [Limit] error for data that are
	// too large, and a [StorageFull] error if the tenant has no room. After an error, there is no artifact.
	SaveArtifact(ctx context.Context, key ThreadKey, a NewArtifact) (Artifact, error)
	// OpenArtifact returns an artifact of the thread with its data, which the caller closes. It returns a [NotFound]
	// error if the thread has no such artifact, whatever the text of the id is.
	OpenArtifact(ctx context.Context, key ThreadKey, id ArtifactID) (Artifact, io.ReadCloser, error)
	// Artifacts returns the artifacts of the thread, by their ids.
	Artifacts(ctx context.Context, key ThreadKey) ([]Artifact, error)
	// DeleteArtifacts removes all artifacts of a thread that was deleted. A thread without artifacts is no error.
	DeleteArtifacts(ctx context.Context, key ThreadKey) error
}

// ArtifactRetirer is an [ArtifactStore] whose references are rows of the engine's own store. The artifacts of a thread
// then end in the transaction that deletes it: a failure or a crash after it leaves none, and a thread that is made
// again with the same id keeps its new ones.
type ArtifactRetirer interface {
	ArtifactStore

	// RetireArtifacts returns rows that the transaction which deletes the thread writes, and a function that then removes
	// the data. What that function leaves after an error, [ArtifactSweeper] removes.
	RetireArtifacts(key ThreadKey) (rows []Row, remove func(ctx context.Context) error)
}

// ArtifactSweeper is an [ArtifactStore] that removes what crashes and failures left. Workers sweep about once an hour.
type ArtifactSweeper interface {
	ArtifactStore

	// Sweep removes data without an artifact, and artifacts without a thread.
	Sweep(ctx context.Context) error
}

// ArtifactBound is an [ArtifactStore] that knows its bound: a server refuses a larger file before it is sent.
type ArtifactBound interface {
	ArtifactStore

	// MaxArtifactBytes returns the size of the largest artifact, in bytes.
	MaxArtifactBytes() int64
}

// ArtifactIDOf returns the id of an artifact by the key of its save and the SHA-256 of its data. A call that is repeated
// with the same data therefore gets the same artifact.
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
