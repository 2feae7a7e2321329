package mcp

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
)

// A server wants a file where the schema of a tool says so: by contentEncoding or a format, whose value is base64, or
// by x-mcp-file (SEP-2356), whose value is a data URI. A model names an artifact of its thread there, and the call
// sends the data. Other texts go as they are, as a model may have the data itself.

const (
	// maxFileBytes bounds the files of a call together.
	maxFileBytes = 10 << 20
	// maxSchemaDepth bounds how deep schemas and arguments are followed, and maxPlaces how many schemas one place has.
	maxSchemaDepth = 64
	maxPlaces      = 256
)

// fileKind says how a server wants a file.
type fileKind struct {
	dataURI bool
	most    int64    // bytes
	accept  []string // types, for the model
}

// fileOf returns what a schema says about the file that its value is, or false if it says none.
func fileOf(schema map[string]any) (fileKind, bool) {
	kind := fileKind{most: maxFileBytes}
	if !isText(schema["type"]) {
		return kind, false
	}
	if about, ok := schema["x-mcp-file"].(map[string]any); ok {
		kind.dataURI = true
		if n, ok := about["maxSize"].(json.Number); ok {
			if size, err := n.Int64(); err == nil && size >= 0 {
				kind.most = min(kind.most, size)
			}
		}
		accept, _ := about["accept"].([]any)
		for _, one := range accept {
			if text, ok := one.(string); ok && len(kind.accept) < maxArguments {
				kind.accept = append(kind.accept, cut(text, maxTitle))
			}
		}
		return kind, true
	}
	encoding, _ := schema["contentEncoding"].(string)
	format, _ := schema["format"].(string)
	return kind, strings.EqualFold(encoding, "base64") || format == "binary" || format == "byte" || format == "base64"
}

func isText(kind any) bool {
	switch kind := kind.(type) {
	case nil:
		return true
	case []any:
		return slices.Contains(kind, any("string"))
	default:
		return kind == "string"
	}
}

// mayHaveFiles reports whether a schema could have a file: most have none, and are not read for it.
func mayHaveFiles(schema json.RawMessage) bool {
	for _, word := range []string{`"contentEncoding"`, `"x-mcp-file"`, `"binary"`, `"byte"`, `"base64"`} {
		if bytes.Contains(schema, []byte(word)) {
			return true
		}
	}
	return false
}

// decodeNumbers decodes JSON with its numbers as they are.
func decodeNumbers(text json.RawMessage) (any, error) {
	var value any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	err := d.Decode(&value)
	return value, err
}

// shownSchema returns the schema of a tool's arguments as a model sees it: it may name an artifact where the server
// wants a file. The same schema gives the same one.
func shownSchema(schema json.RawMessage) json.RawMessage {
	if !mayHaveFiles(schema) {
		return schema
	}
	root, err := decodeNumbers(schema)
	if err != nil || !showFiles(root, 0) {
		return schema
	}
	shown, err := json.Marshal(root)
	if err != nil || len(shown) > maxSchema {
		return schema
	}
	return shown
}

// showFiles changes the schemas of files in a schema, and reports whether there were some. It looks only where
// [fileArgs] finds them for an argument: elsewhere, the id of an artifact would go to the server as a text.
func showFiles(schema any, depth int) (changed bool) {
	s, ok := schema.(map[string]any)
	if !ok || depth > maxSchemaDepth {
		return false
	}
	if kind, ok := fileOf(s); ok {
		s["description"] = kind.describe(s["description"])
		// they are for the data
		for _, rule := range []string{
			"contentEncoding", "contentSchema", "format", "maxLength", "minLength", "pattern", "x-mcp-file",
		} {
			delete(s, rule)
		}
		changed = true
	}
	for word, below := range s {
		switch word {
		case "properties", "$defs", "definitions":
			named, _ := below.(map[string]any)
			for _, one := range named {
				changed = showFiles(one, depth+1) || changed
			}
		case "items", "prefixItems", "anyOf", "oneOf", "allOf", "additionalProperties", "then", "else":
			all, isList := below.([]any)
			if !isList {
				all = []any{below}
			}
			for _, one := range all {
				changed = showFiles(one, depth+1) || changed
			}
		}
	}
	return changed
}

// describe returns a description for a model.
func (k fileKind) describe(before any) string {
	text, _ := before.(string)
	form := "its data in base64"
	if k.dataURI {
		form = "a data URI"
	}
	about := fmt.Sprintf("A file of up to %d bytes: the id of an artifact (art_...), whose data are sent, or %s.", k.most,
		form)
	if len(k.accept) > 0 {
		about += " It may be " + strings.Join(k.accept, ", ") + "."
	}
	return strings.TrimSpace(text + " " + about)
}

// withFiles returns the arguments of a call with the data of the artifacts that they name.
func withFiles(ctx context.Context, schema json.RawMessage, call spool.ToolCall) (json.RawMessage, error) {
	args := argsOf(call)
	if !mayHaveFiles(schema) {
		return args, nil
	}
	root, err := decodeNumbers(schema)
	if err != nil {
		return args, nil //nolint:nilerr // the schema is only the server's description
	}
	value, err := decodeNumbers(args)
	if err != nil {
		return args, nil //nolint:nilerr // the server says what is wrong with them
	}
	f := &fileArgs{root: root, call: call, room: maxFileBytes}
	value, err = f.value(ctx, []any{root}, value, "", 0)
	switch {
	case err != nil:
		return nil, err
	case !f.changed:
		return args, nil
	}
	return json.Marshal(value)
}

// fileArgs puts the data of artifacts into arguments.
type fileArgs struct {
	root    any // the schema
	call    spool.ToolCall
	room    int64
	changed bool
}

// value returns a value of the arguments, which is at a place that some schemas describe.
func (f *fileArgs) value(ctx context.Context, schemas []any, value any, path string, depth int) (any, error) {
	if depth > maxSchemaDepth {
		return value, nil
	}
	places := f.places(schemas)
	var err error
	switch value := value.(type) {
	case string:
		if !namesArtifact(value) {
			return value, nil
		}
		for _, s := range places {
			if kind, ok := fileOf(s); ok {
				return f.load(ctx, kind, value, path)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if value[name], err = f.value(ctx, schemasOf(places, name), value[name], join(path, name), depth+1); err != nil {
				return nil, err
			}
		}
	case []any:
		for i := range value {
			if value[i], err = f.value(
				ctx, schemasAt(places, i), value[i], fmt.Sprintf("%s[%d]", path, i), depth+1,
			); err != nil {
				return nil, err
			}
		}
	}
	return value, nil
}

func join(path, name string) string {
	name = cut(name, maxTitle)
	if path == "" {
		return name
	}
	return path + "." + name
}

// schemasOf returns the schemas of a property, and schemasAt those of an element of a list.
func schemasOf(places []map[string]any, name string) (below []any) {
	for _, s := range places {
		named, _ := s["properties"].(map[string]any)
		if one, ok := named[name]; ok {
			below = append(below, one)
		} else if other, ok := s["additionalProperties"]; ok {
			below = append(below, other)
		}
	}
	return below
}

func schemasAt(places []map[string]any, i int) (below []any) {
	for _, s := range places {
		first, _ := s["prefixItems"].([]any)
		switch items := s["items"].(type) {
		case []any: // of older drafts
			first = items
		default:
			if i >= len(first) {
				below = append(below, items)
			}
		}
		if i < len(first) {
			below = append(below, first[i])
		}
	}
	return below
}

// places returns the schemas that describe a place: some, those that they refer to, and their alternatives.
func (f *fileArgs) places(schemas []any) (all []map[string]any) {
	seen := make(map[string]bool)
	for next := slices.Clone(schemas); len(next) > 0 && len(all) < maxPlaces; next = next[1:] {
		s, ok := next[0].(map[string]any)
		if !ok {
			continue
		}
		all = append(all, s)
		if ref, ok := s["$ref"].(string); ok && !seen[ref] {
			seen[ref] = true
			next = append(next, lookUp(f.root, ref))
		}
		for _, word := range []string{"anyOf", "oneOf", "allOf"} {
			some, _ := s[word].([]any)
			next = append(next, some...)
		}
		next = append(next, s["then"], s["else"])
	}
	return all
}

// lookUp returns the part of a document that a reference within it names, or nil.
func lookUp(root any, ref string) any {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return nil
	}
	at := root
	for name := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if path == "" {
			break
		}
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		if plain, err := url.PathUnescape(name); err == nil {
			name = plain
		}
		at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
	}
	return at
}

// namesArtifact reports whether a text stands for an artifact.
func namesArtifact(text string) bool {
	_, uri := spool.ArtifactOf(text)
	return uri || strings.HasPrefix(text, "art_")
}

// load returns the data of an artifact as the server wants them.
func (f *fileArgs) load(ctx context.Context, kind fileKind, text, path string) (string, error) {
	wrong := func(err error) error {
		return &spool.Error{Code: spool.CodeOf(err), Message: path + ": " + spool.MessageOf(err), Err: err}
	}
	a, data, err := f.call.OpenArtifact(ctx, text)
	if err != nil {
		return "", wrong(err)
	}
	defer data.Close()
	most := min(kind.most, f.room)
	read, err := io.ReadAll(io.LimitReader(data, most+1))
	switch {
	case err != nil:
		return "", wrong(spool.Wrap(spool.Unavailable, "the artifact cannot be read", err))
	case int64(len(read)) > kind.most:
		return "", spool.Errorf(spool.Limit, "%s: the file is larger than %d bytes", path, kind.most)
	case int64(len(read)) > f.room:
		return "", spool.Errorf(spool.Limit, "%s: the files of the call are larger than %d bytes together", path,
			maxFileBytes)
	}
	f.room -= int64(len(read))
	f.changed = true
	encoded := base64.StdEncoding.EncodeToString(read)
	if !kind.dataURI {
		return encoded, nil
	}
	name := ""
	if a.Name != "" {
		name = ";name=" + url.PathEscape(a.Name)
	}
	return "data:" + a.MediaType + name + ";base64," + encoded, nil
}
