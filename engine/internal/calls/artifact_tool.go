package calls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/filepart"
)

// defaultPage is how many bytes of a text artifact the model reads if it does not say.
const defaultPage = 16 << 10

// page is what a model asks for: a part of an artifact.
type page struct {
	ID     spool.ArtifactID `json:"id"`
	Offset int64            `json:"offset"`
	Limit  int              `json:"limit"`
}

// artifactTool returns the tool with which a model reads the artifacts of its thread, up to maxBytes of a text at
// once.
func artifactTool(maxBytes int) spool.Tool {
	return spool.Tool{
		ToolSpec: spool.ToolSpec{
			Name: spool.ArtifactTool,
			Description: "Reads a file of this conversation by its artifact id: a part of a text, from a byte offset on. " +
				"An image or a PDF is shown, if you can see such files. If the result has nextOffset, read on from there.",
			Parameters: json.RawMessage(`{"type":"object","properties":{` +
				`"id":{"type":"string","description":"The id of the artifact, which begins with art_."},` +
				`"offset":{"type":"integer","minimum":0,"description":"The first byte to read. Left out: the beginning."},` +
				`"limit":{"type":"integer","minimum":1,"description":"How many bytes to read. Left out: 16384."}` +
				`},"required":["id"],"additionalProperties":false}`),
		},
		Idempotent: true,
		Check: func(args json.RawMessage) error {
			_, err := pageOf(args, maxBytes)
			return err
		},
		Call: func(ctx context.Context, call spool.ToolCall) (json.RawMessage, error) {
			p, err := pageOf(call.Args, maxBytes)
			if err != nil {
				return nil, err
			}
			return readArtifact(ctx, call, p)
		},
	}
}

// pageOf returns the checked arguments of a call.
func pageOf(args json.RawMessage, maxBytes int) (p page, err error) {
	decoder := json.NewDecoder(bytes.NewReader(args))
	decoder.DisallowUnknownFields()
	switch {
	case decoder.Decode(&p) != nil:
		return p, errors.New("the arguments are id, a string, and offset and limit, whole numbers")
	case p.ID == "":
		return p, errors.New("id is required")
	case p.Offset < 0 || p.Limit < 0:
		return p, errors.New("offset and limit must not be negative")
	case p.Limit == 0:
		p.Limit = defaultPage
	}
	p.Limit = min(p.Limit, maxBytes)
	return p, nil
}

// readArtifact returns the result of a call: a part of a text, or the artifact itself, which the engine then shows.
func readArtifact(ctx context.Context, call spool.ToolCall, p page) (json.RawMessage, error) {
	found, data, err := call.OpenArtifact(ctx, string(p.ID))
	if err != nil {
		return nil, err
	}
	defer data.Close()
	if !filepart.IsText(filepart.Plain(found.MediaType)) {
		return toolresult.JSON(map[string]spool.Artifact{"artifact": found}), nil
	}
	if _, err := io.CopyN(io.Discard, data, p.Offset); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(data, int64(p.Limit)))
	if err != nil {
		return nil, err
	}
	begin, end := wholeRunes(text, p.Offset+int64(len(text)) >= found.Size)
	out := struct {
		ID         spool.ArtifactID `json:"id"`
		Size       int64            `json:"size"`
		Offset     int64            `json:"offset"`
		NextOffset int64            `json:"nextOffset,omitempty"`
		Text       string           `json:"text"`
	}{
		ID: p.ID, Size: found.Size, Offset: p.Offset + int64(begin),
		Text: string(bytes.ToValidUTF8(text[begin:end], []byte("\ufffd"))),
	}
	if next := p.Offset + int64(end); next < found.Size && end > 0 {
		out.NextOffset = next
	}
	return toolresult.JSON(out), nil
}

// wholeRunes returns the bounds of the whole characters in a part of a text. Last says that the text ends here.
func wholeRunes(text []byte, last bool) (begin, end int) {
	end = len(text)
	for begin < min(end, utf8.UTFMax-1) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	if last {
		return begin, end
	}
	for i := end - 1; i >= max(begin+1, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:end]) {
				end = i
			}
			break
		}
	}
	return begin, end
}
