package command

import (
	"cmp"
	"context"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/artifact"
	"github.com/spoolhq/spool/artifact/dir"
	"github.com/spoolhq/spool/artifact/rows"
	"github.com/spoolhq/spool/artifact/s3"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/store"
)

// maxArtifact bounds an artifact if the configuration does not, and maxArtifactRows one in the database.
const (
	maxArtifact     = 64 << 20
	maxArtifactRows = 16 << 20
)

// artifactsOf returns where artifacts are: the section of the configuration, or the folder of the flag.
func artifactsOf(section config.Artifacts, folder string) (config.Artifacts, error) {
	switch {
	case folder == "":
		return section, nil
	case section.Type != "":
		return section, usagef("--artifacts: the configuration has the section artifacts: leave one of them out")
	default:
		return config.Artifacts{Type: config.ArtifactsDirectory, Path: folder}, nil
	}
}

// openArtifacts returns the store of artifacts over the store of the engine, or nil if the configuration has none.
func openArtifacts(ctx context.Context, db store.Store, a config.Artifacts) (store.ArtifactStore, error) {
	if a.Type == "" {
		return nil, nil //nolint:nilnil // nil is: artifacts are not stored
	}
	most := cmp.Or(a.MaxBytes, maxArtifact)
	var blobs store.Blobs
	var err error
	switch a.Type {
	case config.ArtifactsDirectory:
		blobs, err = dir.OpenBlobs(a.Path)
	case config.ArtifactsS3:
		blobs, err = s3.Open(ctx, s3.Options{
			Endpoint: a.S3.Endpoint, Bucket: a.S3.Bucket, Prefix: a.S3.Prefix, Region: a.S3.Region,
			AccessKey: a.S3.AccessKey, SecretKey: a.S3.SecretKey, PathStyle: a.S3.PathStyle, Insecure: a.S3.Insecure,
		})
	default:
		most = cmp.Or(a.MaxBytes, maxArtifactRows)
		blobs, err = rows.New(db, &rows.Options{MaxBytes: most})
	}
	if err != nil {
		return nil, usagef("artifacts: %s", spool.MessageOf(err))
	}
	// Without the section, the engine has kept files in the database.
	earlier, err := rows.New(db, nil)
	if err != nil {
		return nil, err
	}
	all, err := artifact.New(db, blobs, &artifact.Options{MaxBytes: most, Quota: a.Quota, Earlier: earlier})
	if err != nil {
		return nil, usagef("artifacts: %s", spool.MessageOf(err))
	}
	return all, nil
}
