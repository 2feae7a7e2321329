package attach

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/wire"
)

// artifactPart returns the part for an attachment that is an artifact. Only [Files.Store] knows whether it is an image.
func (a *Files) artifactPart(one wire.Attachment) (spool.Part, error) {
	switch {
	case a.Artifacts == nil:
		return spool.Part{}, spool.Errorf(spool.Invalid, "artifactId: the server does not store artifacts")
	case one.URL != "":
		return spool.Part{}, spool.Errorf(spool.Invalid, "artifactId and url exclude each other")
	case !validName(one.Name):
		return spool.Part{}, errName
	}
	return spool.Part{Type: spool.PartFile, File: one.ArtifactID.URI(), FileName: one.Name}, nil
}

// Store returns the parts of a user turn's attachments as the thread stores them: with the types of artifacts, and
// with large data as artifacts. It returns an [spool.Invalid] error for an artifact that the thread does not have.
// Parts are the same as for [Files.Parts].
func (a *Files) Store(ctx context.Context, key spool.ThreadKey, parts spool.Content) (spool.Content, error) {
	if a.Artifacts == nil {
		return parts, nil
	}
	parts = slices.Clone(parts)
	for i, p := range parts {
		var err error
		if id, isArtifact := spool.ArtifactOf(source(p)); isArtifact {
			if parts[i], err = a.describe(ctx, key, p, id); spool.CodeOf(err) == spool.NotFound {
				err = spool.Errorf(spool.Invalid, "attachments[%d].artifactId is no artifact of the thread", i)
			}
		} else {
			parts[i], err = a.save(ctx, key, p)
		}
		if err != nil {
			return nil, err
		}
	}
	return parts, nil
}

// describe returns the part of an artifact with its type and name.
func (a *Files) describe(
	ctx context.Context, key spool.ThreadKey, p spool.Part, id spool.ArtifactID,
) (spool.Part, error) {
	artifact, data, err := a.Artifacts.OpenArtifact(ctx, key, id)
	if err != nil {
		return p, err
	}
	_ = data.Close()
	if kind := filepart.Plain(artifact.MediaType); kind != "" && isImage(kind) && slices.Contains(a.MediaTypes, kind) {
		return spool.Part{Type: spool.PartImage, Image: p.File, MIMEType: kind}, nil
	}
	p.MIMEType = artifact.MediaType
	if p.FileName == "" {
		p.FileName = artifact.Name
	}
	return p, nil
}

// save returns a part whose data are too large for a message as one with an artifact. The thread then has them once,
// however often they are attached.
func (a *Files) save(ctx context.Context, key spool.ThreadKey, p spool.Part) (spool.Part, error) {
	if from := source(p); a.KeepInline || len(from) <= a.MaxInlineBytes || !filepart.IsData(from) {
		return p, nil
	}
	kind, data, ok := filepart.Decode(source(p))
	if !ok {
		return p, nil
	}
	if p.MIMEType != "" {
		kind = mediaType(p.MIMEType)
	}
	sum := sha256.Sum256(data)
	saved, err := a.Artifacts.SaveArtifact(ctx, key, spool.NewArtifact{
		Name: p.FileName, MediaType: kind, Data: bytes.NewReader(data), Key: "attachment:" + hex.EncodeToString(sum[:]),
	})
	if err != nil {
		return p, err
	}
	if p.MIMEType = kind; p.Type == spool.PartImage {
		p.Image = saved.ID.URI()
	} else {
		p.File = saved.ID.URI()
	}
	return p, nil
}
