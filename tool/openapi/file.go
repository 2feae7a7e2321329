package openapi

import (
	"context"
	"io"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/tool/internal/argument"
)

// maxFiles bounds the files of one call together, in bytes: each of them is in memory until the call is answered.
const maxFiles = 32 << 20

// opener returns what opens the artifacts that the arguments of a call name.
func opener(ctx context.Context, c spool.ToolCall) argument.OpenFunc {
	left := int64(maxFiles)
	return func(text string) (argument.File, error) {
		artifact, data, err := c.OpenArtifact(ctx, text)
		if err != nil {
			return argument.File{}, err
		}
		defer data.Close()
		read, err := io.ReadAll(io.LimitReader(data, left+1))
		switch {
		case err != nil:
			return argument.File{}, &spool.Error{Code: spool.Unavailable, Message: "the artifact cannot be read", Err: err}
		case int64(len(read)) > left:
			return argument.File{}, spool.Errorf(spool.Limit, "the files of a call may have %d bytes together", maxFiles)
		}
		left -= int64(len(read))
		return argument.File{Name: artifact.Name, MediaType: artifact.MediaType, Data: read}, nil
	}
}
