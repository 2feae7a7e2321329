package endpoint

import (
	"bytes"
	"context"
	"encoding/json"
	"mime"
	"net/http"
	"path"

	"github.com/spoolhq/spool"
)

// maxResult bounds the answer to a call, and one that is a text, in bytes.
func (e *Endpoint) maxResult(c spool.ToolCall) (most, mostText int) {
	if most = e.config.MaxResultBytes; most != 0 {
		return most, most
	}
	most, mostText = defaultMaxResult, defaultMaxResult
	if c.SaveArtifactFunc != nil {
		most = defaultMaxStored
	}
	if c.StoresResults {
		mostText = defaultMaxStored
	}
	return most, mostText
}

// saveFile saves an answer that is neither JSON nor text as an artifact, and returns the result that names it.
func (e *Endpoint) saveFile(
	ctx context.Context, c spool.ToolCall, response *http.Response, body []byte,
) (json.RawMessage, error) {
	if c.SaveArtifactFunc == nil {
		return nil, spool.Errorf(spool.Invalid,
			"the tool was executed, but its answer, of %d bytes, is neither JSON nor text", len(body))
	}
	mediaType, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		mediaType = ""
	}
	name := string(e.clean([]byte(fileName(response)))) // the URL may have a key
	saved, err := c.SaveArtifact(ctx, name, string(e.clean([]byte(mediaType))), bytes.NewReader(e.clean(body)))
	if err != nil {
		return nil, &spool.Error{
			Code: spool.CodeOf(err), Message: "the tool was executed, but its answer, a file, was not saved: " +
				spool.MessageOf(err), Err: err,
		}
	}
	return json.Marshal(map[string]spool.Artifact{"artifact": saved})
}

// fileName returns the name that the answer gives, or the end of the URL's path, or an empty string.
func fileName(response *http.Response) string {
	_, fields, err := mime.ParseMediaType(response.Header.Get("Content-Disposition"))
	name := ""
	if err == nil {
		name = fields["filename"]
	}
	if name == "" && response.Request != nil {
		name = response.Request.URL.Path
	}
	if name = path.Base(name); name == "." || name == "/" {
		return ""
	}
	return name
}
