package spool

import (
	"context"
	"io"
	"strings"
)

// ArtifactTool is the name of the tool with which a model reads the artifacts of its thread. An agent has it
// if the engine stores artifacts, the thread has any, and no tool of the agent has the name.
const ArtifactTool = "readArtifact"

// ErrNoArtifacts is the error of [ToolCall.SaveArtifact] and [ToolCall.OpenArtifact] of a call without an engine, and
// of one whose engine keeps no files.
var ErrNoArtifacts = Errorf(Invalid, "the engine does not store artifacts")

// SaveArtifact saves a file that the call makes as an artifact of its thread. The artifact is durable when
// SaveArtifact returns. Clients and the model learn of it from the call's result, which should have the returned
// [Artifact] under the key "artifact": models that take images in results then see an image. A call that is
// repeated after a crash and saves the same data gets the same artifact.
//
// SaveArtifact is safe for concurrent use. It returns [ErrNoArtifacts] if the engine does not store artifacts, and an
// error with the code [StorageFull] or [Limit] if the tenant has no room for it or it is too large.
func (c ToolCall) SaveArtifact(ctx context.Context, name, mediaType string, data io.Reader) (Artifact, error) {
	if c.SaveArtifactFunc == nil {
		return Artifact{}, ErrNoArtifacts
	}
	return c.SaveArtifactFunc(ctx, NewArtifact{Name: name, MediaType: mediaType, Data: data})
}

// OpenArtifact returns an artifact of the call's thread with its data, which the caller closes. The text is an
// artifact's id or its URI, as a model writes them: see [ArtifactID.URI].
//
// OpenArtifact is safe for concurrent use. It returns [ErrNoArtifacts] if the engine does not store artifacts, and an
// error with the code [NotFound] if the thread has no such artifact.
func (c ToolCall) OpenArtifact(ctx context.Context, text string) (Artifact, io.ReadCloser, error) {
	if c.OpenArtifactFunc == nil {
		return Artifact{}, nil, ErrNoArtifacts
	}
	return c.OpenArtifactFunc(ctx, ArtifactID(strings.TrimPrefix(text, artifactScheme)))
}
