package attach

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/wire"
)

// shelf is what a thread has as artifacts.
type shelf map[spool.ArtifactID]struct {
	kind, name string
	data       []byte
}

var errDown = errors.New("the store is down")

func (s shelf) OpenArtifact(
	_ context.Context, key spool.ThreadKey, id spool.ArtifactID,
) (spool.Artifact, io.ReadCloser, error) {
	one, ok := s[id]
	switch {
	case id == "down":
		return spool.Artifact{}, nil, errDown
	case !ok || key.ID != "t1":
		return spool.Artifact{}, nil, spool.Errorf(spool.NotFound, "no artifact")
	}
	return spool.Artifact{ID: id, Name: one.name, MediaType: one.kind, Size: int64(len(one.data))},
		io.NopCloser(bytes.NewReader(one.data)), nil
}

func (s shelf) SaveArtifact(_ context.Context, key spool.ThreadKey, a spool.NewArtifact) (spool.Artifact, error) {
	data, err := io.ReadAll(a.Data)
	if err != nil || key.ID != "t1" || a.Key == "" {
		return spool.Artifact{}, errDown
	}
	s["saved"] = struct {
		kind, name string
		data       []byte
	}{a.MediaType, a.Name, data}
	return spool.Artifact{ID: "saved", Name: a.Name, MediaType: a.MediaType, Size: int64(len(data))}, nil
}

func (s shelf) Artifacts(context.Context, spool.ThreadKey) ([]spool.Artifact, error) {
	return nil, errDown
}

func (s shelf) DeleteArtifacts(context.Context, spool.ThreadKey) error { return errDown }

func attachedFile(id, name string) spool.Part {
	return spool.Part{Type: spool.PartFile, File: "artifact:" + id, FileName: name}
}

func resultOf(tool, text string) spool.Part {
	return spool.Part{Type: spool.PartToolResult, ToolName: tool, Result: json.RawMessage(text)}
}

func text(said string) spool.Part { return spool.Part{Type: spool.PartText, Text: said} }

func TestArtifactsInPrompts(t *testing.T) {
	t.Parallel()

	png, document := picture(t, "png"), []byte("%PDF-1.7\n")
	stored := shelf{
		"png": {"image/png", "a.png", png}, "gif": {"image/gif", "", picture(t, "gif")},
		"pdf": {"application/pdf", "a.pdf", document}, "csv": {"text/csv; charset=utf-8", "a.csv", []byte("a,b")},
		"zip": {"application/zip", "a.zip", []byte("PK")}, "fake": {"image/png", "", []byte("no image")},
		"long": {"text/plain", "", []byte(strings.Repeat("x", 2001))},
	}
	image := spool.Part{Type: spool.PartImage, Image: dataURL("image/png", png), MIMEType: "image/png"}
	file := spool.Part{
		Type: spool.PartFile, File: dataURL("application/pdf", document), MIMEType: "application/pdf", FileName: "a.pdf",
	}
	for name, c := range map[string]struct {
		role    spool.Role
		content spool.Content
		want    spool.Content
	}{
		"attached": {spool.RoleUser, spool.Content{
			text("Look."),
			{Type: spool.PartImage, Image: "artifact:png"},
			attachedFile("pdf", ""),
			attachedFile("csv", "mine.csv"),
		}, spool.Content{
			text("Look."), image, file, {
				Type: spool.PartFile, File: dataURL("text/csv", []byte("a,b")), MIMEType: "text/csv", FileName: "mine.csv",
			},
		}},
		"not for models": {spool.RoleUser, spool.Content{
			attachedFile("zip", ""), attachedFile("fake", ""), attachedFile("long", ""), attachedFile("none", ""),
		}, spool.Content{
			text(`[the file zip, "a.zip", of the type application/zip and 2 bytes, which is not shown here]`),
			text(`[the file fake, of the type image/png and 8 bytes, which cannot be shown]`),
			text(`[the file long, of the type text/plain and 2001 bytes, which is not shown here]`),
			text(`[the file none, which is not available any more]`),
		}},
		"results": {spool.RoleTool, spool.Content{
			resultOf("draw", `{"artifact":{"id":"png"}}`),
			resultOf("mix", `{"a":[{"artifact":{"id":"csv"}},{"artifact":{"id":"pdf"}}]}`),
			resultOf("lie", `{"artifact":{"id":"none"},"b":{"artifact":"png"}}`), resultOf("say", `"\"artifact\""`),
		}, spool.Content{
			resultOf("draw", `{"artifact":{"id":"png"}}`), image,
			resultOf("mix", `{"a":[{"artifact":{"id":"csv"}},{"artifact":{"id":"pdf"}}]}`),
			resultOf("lie", `{"artifact":{"id":"none"},"b":{"artifact":"png"}}`), resultOf("say", `"\"artifact\""`),
		}},
		"asked for": {spool.RoleTool, spool.Content{resultOf(spool.ArtifactTool, `{"artifact":{"id":"pdf"}}`)}, spool.Content{
			resultOf(spool.ArtifactTool, `{"artifact":{"id":"pdf"}}`), file,
		}},
		"shown once": {spool.RoleTool, spool.Content{
			resultOf("a", `{"artifact":{"id":"png"}}`), resultOf("b", `{"artifact":{"id":"png"}}`),
		}, spool.Content{
			resultOf("a", `{"artifact":{"id":"png"}}`), resultOf("b", `{"artifact":{"id":"png"}}`), image,
		}},
	} {
		a := testAttachments(t, option.Attachments{MaxTextBytes: 2000})
		a.Artifacts = stored
		asked := spool.ModelRequest{Messages: []spool.Message{{Role: c.role, Content: c.content}}}
		for _, thread := range []spool.ThreadID{"t1", "t2"} {
			got, err := a.Inline(t.Context(), asked, Prompt{Thread: spool.ThreadKey{ID: thread}}, make(Fetched))
			same := err == nil && reflect.DeepEqual(got.Messages[0].Content, c.want)
			if err != nil || same != (thread == "t1") {
				t.Errorf("%s, thread %s: %+v, %v", name, thread, got.Messages[0].Content, err)
			}
		}
	}
}

// The newest artifacts have the room of a request, and the model reads of the others.
func TestArtifactsHaveRoom(t *testing.T) {
	t.Parallel()

	png := picture(t, "png")
	a := testAttachments(t, option.Attachments{MaxPromptBytes: 2*len(png) + 60})
	a.Artifacts = shelf{"1": {"image/png", "", png}, "2": {"image/png", "", png}, "3": {"image/png", "", png}}
	image := func(id string) spool.Part { return spool.Part{Type: spool.PartImage, Image: "artifact:" + id} }
	asked := spool.ModelRequest{Messages: []spool.Message{
		{Role: spool.RoleUser, Content: spool.Content{image("1")}},
		{Role: spool.RoleTool, Content: spool.Content{resultOf("draw", `{"artifact":{"id":"2"}}`)}},
		{Role: spool.RoleUser, Content: spool.Content{image("3")}},
	}}
	known := make(Fetched)
	for range 2 {
		got, err := a.Inline(t.Context(), asked, Prompt{Thread: spool.ThreadKey{ID: "t1"}}, known)
		if err != nil || len(got.Messages[1].Content) != 2 || got.Messages[2].Content[0].Type != spool.PartImage ||
			!strings.HasSuffix(got.Messages[0].Content[0].Text, "which this request has no room for]") {
			t.Errorf("got %+v, %v", got.Messages, err)
		}
	}
}

func TestArtifactsThatFail(t *testing.T) {
	t.Parallel()

	asked := spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleUser, Content: spool.Content{attachedFile("down", "")}}},
	}
	a := testAttachments(t, option.Attachments{})
	got, err := a.Inline(t.Context(), asked, Prompt{}, make(Fetched))
	if err != nil || got.Messages[0].Content[0].Text != "[the file down, which is not available any more]" {
		t.Errorf("without a store: %+v, %v", got.Messages, err)
	}
	a.Artifacts = shelf{}
	if _, err := a.Inline(t.Context(), asked, Prompt{}, make(Fetched)); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
}

func TestAttachedArtifacts(t *testing.T) {
	t.Parallel()

	png, long := picture(t, "png"), dataURL("text/csv", []byte(strings.Repeat("a,b\n", 100)))
	for name, c := range map[string]struct {
		one  wire.Attachment
		want spool.Part
		err  string
	}{
		"image": {
			one:  wire.Attachment{ArtifactID: "png"},
			want: spool.Part{Type: spool.PartImage, Image: "artifact:png", MIMEType: "image/png"},
		},
		"uri": {
			one:  wire.Attachment{URL: "artifact:png"},
			want: spool.Part{Type: spool.PartImage, Image: "artifact:png", MIMEType: "image/png"},
		},
		"file": {
			one:  wire.Attachment{ArtifactID: "zip"},
			want: spool.Part{Type: spool.PartFile, File: "artifact:zip", MIMEType: "application/zip", FileName: "a.zip"},
		},
		"name": {
			one:  wire.Attachment{ArtifactID: "zip", Name: "b.zip"},
			want: spool.Part{Type: spool.PartFile, File: "artifact:zip", MIMEType: "application/zip", FileName: "b.zip"},
		},
		"small": {
			one:  wire.Attachment{URL: "data:text/csv,a"},
			want: spool.Part{Type: spool.PartFile, File: "data:text/csv,a", MIMEType: "text/csv"},
		},
		"large": {
			one:  wire.Attachment{URL: long, Name: "a.csv"},
			want: spool.Part{Type: spool.PartFile, File: "artifact:saved", MIMEType: "text/csv", FileName: "a.csv"},
		},
		"large image": {
			one:  wire.Attachment{URL: dataURL("image/png", append(blank(t, 300, 300), make([]byte, 300)...))},
			want: spool.Part{Type: spool.PartImage, Image: "artifact:saved", MIMEType: "image/png"},
		},
		"far": {
			one:  wire.Attachment{URL: "https://example.com/a.png"},
			want: spool.Part{Type: spool.PartImage, Image: "https://example.com/a.png"},
		},

		"foreign": {one: wire.Attachment{ArtifactID: "none"}, err: "attachments[0].artifactId is no artifact of the thread"},
		"both": {
			one: wire.Attachment{ArtifactID: "png", URL: "https://example.com/a.png"},
			err: "attachments[0].artifactId and url exclude each other",
		},
		"no name": {one: wire.Attachment{ArtifactID: "png", Name: "\n"}, err: "attachments[0].name must have"},
	} {
		a := testAttachments(t, option.Attachments{MaxInlineBytes: 300})
		stored := shelf{"png": {"image/png", "a.png", png}, "zip": {"application/zip", "a.zip", []byte("PK")}}
		a.Artifacts = stored
		parts, err := a.Parts([]wire.Attachment{c.one})
		if err == nil {
			parts, err = a.Store(t.Context(), spool.ThreadKey{ID: "t1"}, parts)
		}
		switch {
		case c.err != "":
			if !strings.HasPrefix(spool.MessageOf(err), c.err) || spool.CodeOf(err) != spool.Invalid {
				t.Errorf("%s: %v", name, err)
			}
		case err != nil, len(parts) != 1, !reflect.DeepEqual(parts[0], c.want):
			t.Errorf("%s: %+v, %v", name, parts, err)
		}
	}
	_, err := testAttachments(t, option.Attachments{}).Parts([]wire.Attachment{{ArtifactID: "png"}})
	if spool.MessageOf(err) != "attachments[0].artifactId: the server does not store artifacts" {
		t.Errorf("without a store: %v", err)
	}
}

// A model reads which images of results it does not get, and the caller learns of them. Ids that a tool made up are
// none.
func TestDroppedImages(t *testing.T) {
	t.Parallel()

	png := picture(t, "png")
	a := testAttachments(t, option.Attachments{MaxBytes: len(png) + 10})
	a.Artifacts = shelf{
		"large": {"image/png", "", append(bytes.Clone(png), make([]byte, 20)...)},
		"fake":  {"image/png", "", []byte("x")},
		"tiff":  {"image/tiff", "", []byte("x")},
		"csv":   {"text/csv", "", []byte("a")},
	}
	results := spool.Content{
		resultOf("a", `{"artifact":{"id":"large"}}`), resultOf("b", `{"artifact":{"id":"fake"}}`),
		resultOf("c", `{"artifact":{"id":"tiff"}}`), resultOf("d", `{"artifact":{"id":"csv"}}`),
		resultOf("e", `{"artifact":{"id":"none"}}`),
	}
	var dropped []spool.ArtifactID
	got, err := a.Inline(t.Context(), spool.ModelRequest{
		Messages: []spool.Message{{Role: spool.RoleTool, Content: results}},
	}, Prompt{
		Thread: spool.ThreadKey{ID: "t1"}, Dropped: func(_ spool.RunID, id spool.ArtifactID, _ string) {
			dropped = append(dropped, id)
		},
	}, make(Fetched))
	content := got.Messages[0].Content
	if err != nil || len(content) != len(results) ||
		!reflect.DeepEqual(dropped, []spool.ArtifactID{"tiff", "fake", "large"}) {
		t.Fatalf("got %+v, dropped %v, %v", content, dropped, err)
	}
	for i, p := range content {
		if noted := strings.Contains(string(p.Result), "[the file "); noted != (i < 3) {
			t.Errorf("the model reads %s", p.Result)
		}
	}
	if string(results[0].Result) != `{"artifact":{"id":"large"}}` {
		t.Errorf("the message has changed to %s", results[0].Result)
	}
}
