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
// none. Of data that are too large, only the size remains, as if it stored none: the rest of the result is worth more.
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
			if saved == maxFiles+1 {
				s.config.Log.WarnContext(ctx, "the result of an MCP server has too many files; the rest is not saved", "server",
					s.config.Name, "tool", call.Name, "saved", maxFiles)
			}
			parts[i].NotSaved = "the result has too many files"
			continue
		}
		artifact, err := call.SaveArtifact(ctx, s.clean(nameOf(p.URI)), s.clean(p.MIMEType),
			bytes.NewReader(s.cleanBytes(p.data)))
		if spool.CodeOf(err) == spool.Limit {
			s.config.Log.WarnContext(ctx, "a file of an MCP server's result was not saved", "server", s.config.Name, "tool",
				call.Name, "bytes", len(p.data), "error", err)
			parts[i].NotSaved = spool.MessageOf(err)
			continue
		}
		if err != nil {
			return &spool.Error{
				Code: spool.CodeOf(err), Message: "the tool was executed, but a file of its result was not saved: " +
					spool.MessageOf(err), Err: err,
			}
		}
		parts[i].Artifact, parts[i].OmittedBytes = &artifact, 0
	}
	return nil
}

// maxResult bounds a result, in bytes.
func (s *Server) maxResult(call spool.ToolCall) int {
	if call.StoresResults {
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
