package threads

import (
	"context"
	"errors"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/server/internal/call"
)

// ArtifactInput asks for the data of an artifact.
type ArtifactInput struct {
	call.OneThread

	ArtifactID spool.ArtifactID `example:"art_0c6c38ccc5b7f5ac8a8cd0a53ab3d6b5" path:"artifactId"` // The artifact.
}

// Artifact answers with the data of an artifact: a large attachment, a large result of a tool, or a file that a tool
// made. Messages have its id. The data of an id never change. Ranges and conditional requests work if the server's
// store of artifacts can seek.
func (c Controller) Artifact(ctx context.Context, in ArtifactInput) (*rest.File, error) {
	key := in.Key(ctx)
	artifact, data, err := c.open(call.Acting(ctx), key, in.ArtifactID)
	if err != nil {
		return nil, call.About(ctx, err, key, "")
	}
	// The next user of the same browser has other credentials.
	rest.ResponseOf(ctx).Header().Add("Vary", "Authorization, Cookie")
	return fileOf(ctx, artifact, data, "private, max-age=31536000, immutable"), nil
}

// open returns an artifact with its data, or a [spool.NotFound] error also if the server stores none.
func (c Controller) open(
	ctx context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	artifact, data, err := c.Engine.OpenArtifact(ctx, key, id)
	if errors.Is(err, spool.ErrNoArtifacts) {
		err = &spool.Error{Code: spool.NotFound, Message: "Artifact not found", Err: err}
	}
	return artifact, data, err
}

// fileOf returns the answer with an artifact. A browser saves it, and runs nothing in it, whatever it is.
func fileOf(ctx context.Context, artifact spool.Artifact, data io.ReadCloser, cache string) *rest.File {
	header := rest.ResponseOf(ctx).Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	header.Set("Cache-Control", cache)
	name := artifact.Name
	if name == "" {
		name = string(artifact.ID)
	}
	return &rest.File{Name: name, Content: data, Type: artifact.MediaType, Download: true}
}
