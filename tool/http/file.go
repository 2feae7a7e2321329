package httptool

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// maxFile bounds a file in a body, in bytes.
const maxFile = 10 << 20

// fileArguments returns the properties of a schema that may be files.
func fileArguments(parameters json.RawMessage) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(parameters, &schema) != nil {
		return nil
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		var p struct {
			Encoding string `json:"contentEncoding"`
			Format   string `json:"format"`
		}
		if json.Unmarshal(schema.Properties[name], &p) == nil && (p.Encoding == "base64" || p.Format == "binary") {
			names = append(names, name)
		}
	}
	return names
}

// withFiles returns the arguments with the data of the artifacts that they name. Base64 never begins as an id does.
func (h *httpTool) withFiles(ctx context.Context, c spool.ToolCall) (json.RawMessage, error) {
	if len(h.files) == 0 || len(c.Args) == 0 {
		return c.Args, nil
	}
	var args map[string]json.RawMessage
	if err := json.Unmarshal(c.Args, &args); err != nil {
		return nil, spool.Errorf(spool.Invalid, "arguments must be a JSON object")
	}
	changed := false
	for _, name := range h.files {
		var id string
		if json.Unmarshal(args[name], &id) != nil ||
			!strings.HasPrefix(strings.TrimPrefix(id, spool.ArtifactID("").URI()), "art_") {
			continue
		}
		data, err := read(ctx, c, id)
		if err != nil {
			return nil, &spool.Error{
				Code: spool.CodeOf(err), Message: "argument " + name + ": " + spool.MessageOf(err), Err: err,
			}
		}
		args[name], changed = data, true
	}
	if !changed {
		return c.Args, nil
	}
	return json.Marshal(args)
}

// read returns the data of an artifact as a JSON string of base64.
func read(ctx context.Context, c spool.ToolCall, id string) (json.RawMessage, error) {
	a, from, err := c.OpenArtifact(ctx, id)
	if err != nil {
		return nil, err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	switch {
	case err != nil:
		return nil, &spool.Error{Code: spool.Unavailable, Message: "the artifact cannot be read", Err: err}
	case len(data) > maxFile:
		return nil, spool.Errorf(spool.Limit, "the artifact %s is larger than %d bytes", a.ID, maxFile)
	}
	var b bytes.Buffer
	b.WriteByte('"')
	encoder := base64.NewEncoder(base64.StdEncoding, &b)
	_, _ = encoder.Write(data)
	_ = encoder.Close()
	b.WriteByte('"')
	return b.Bytes(), nil
}
