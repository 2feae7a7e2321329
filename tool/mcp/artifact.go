package mcp

import (
	"bytes"
	"cmp"
	"context"
	"net/url"
	"path"

	"github.com/spoolhq/spool"
)

// maxFiles bounds how many files of a result are saved.
const maxFiles = 100

// saveData saves the data of a result's images, sounds and files as artifacts. It does nothing if the engine stores
// none.
func (s *Server) saveData(ctx context.Context, call spool.ToolCall, parts []part) error {
	if call.SaveArtifactFunc == nil {
		return nil
	}
	saved := 0
	for i, p := range parts {
		if len(p.data) == 0 {
			continue
		}
		if saved++; saved > maxFiles {
			s.config.Log.WarnContext(ctx, "the result of an MCP server has too many files; the rest is left out", "server", s.config.Name, "tool", call.Name, "saved", maxFiles)
			return nil
		}
		artifact, err := call.SaveArtifact(ctx, nameOf(p.URI), p.MIMEType, bytes.NewReader(s.cleanBytes(p.data)))
		if err != nil {
			return &spool.Error{
				Code: spool.CodeOf(err), Message: "the tool was executed, but a file of its result was not saved: " + spool.MessageOf(err), Err: err,
			}
		}
		parts[i].Artifact, parts[i].OmittedBytes = &artifact, 0
	}
	return nil
}

// maxResult bounds a result, in bytes.
func (s *Server) maxResult(call spool.ToolCall) int {
	if call.SaveArtifactFunc != nil {
		return cmp.Or(s.config.MaxResultBytes, defaultMaxStored)
	}
	return cmp.Or(s.config.MaxResultBytes, defaultMaxResult)
}

// nameOf returns the name of a file by the URI that a server gives, or an empty string.
func nameOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Path == "" {
		return ""
	}
	if name := path.Base(u.Path); name != "." && name != "/" {
		return name
	}
	return ""
}
