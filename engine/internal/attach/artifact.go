package attach

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/internal/filepart"
)

// Prompt says whose request is inlined.
type Prompt struct {
	Thread spool.ThreadKey
	// Run is the dispatched run, and Answers the run whose turn it answers: see [record.Answers]. Their turns must have
	// their files.
	Run, Answers spool.RunID
	// Dropped is called with each artifact of a turn and each image of a result that the model does not get, with the run
	// of its message and the text that the model reads instead. Nil: nobody wants to know.
	Dropped func(of spool.RunID, id spool.ArtifactID, text string)
}

// inliner puts the data of files into one request.
type inliner struct {
	*Files
	Prompt

	known Fetched
	// room is how many more bytes of artifacts the request may have.
	room int64
	// shown are the artifacts of results that the request has.
	shown map[spool.ArtifactID]bool
}

// results returns the content of a tool message with the images that its results name, each after its result. It
// begins with the last one, because the request may have no room for all.
func (in *inliner) results(ctx context.Context, m spool.Message) (spool.Content, error) {
	out := make(spool.Content, 0, len(m.Content)+1)
	for _, p := range slices.Backward(m.Content) {
		if p.Type == spool.PartToolResult {
			for _, named := range slices.Backward(toolresult.ArtifactsOf(p.Result)) {
				media, err := in.media(ctx, m.RunID, named.ID, p.ToolName == spool.ArtifactTool)
				switch {
				case err != nil:
					return nil, err
				case media.Type == spool.PartText: // all models read it there
					p.Result = toolresult.Noted(p.Result, media.Text)
				case media.Type != "":
					out = append(out, media)
				}
			}
		}
		out = append(out, p)
	}
	slices.Reverse(out)
	return out, nil
}

// media returns an image that a result names as a part, a text that says why the model does not get it, or a part
// without a type: there is no such image, or a later result shows it. A PDF is a part only if the model asked for it.
func (in *inliner) media(ctx context.Context, of spool.RunID, id spool.ArtifactID, asked bool) (spool.Part, error) {
	if in.shown[id] {
		return spool.Part{}, nil
	}
	wanted := false
	part, err := in.open(ctx, id, func(kind string) bool {
		wanted = strings.HasPrefix(kind, "image/") || asked && kind == pdf
		return wanted
	})
	if err != nil || part.Type == spool.PartText && !wanted {
		return spool.Part{}, err
	}
	in.shown[id] = true
	in.reportDropped(of, id, part)
	return part, nil
}

// reportDropped calls Dropped for an artifact whose part is a text.
func (in *inliner) reportDropped(of spool.RunID, id spool.ArtifactID, part spool.Part) {
	if part.Type == spool.PartText && in.Dropped != nil {
		in.Dropped(of, id, part.Text)
	}
}

// attached returns an artifact of a user's turn or of a model's answer as a part with its data, or as a text that
// says why not. The provider gets its own data back with either.
func (in *inliner) attached(
	ctx context.Context, of spool.RunID, p spool.Part, id spool.ArtifactID,
) (spool.Part, error) {
	part, err := in.open(ctx, id, func(string) bool { return true })
	if err == nil {
		in.reportDropped(of, id, part)
	}
	if part.Type == spool.PartFile && p.FileName != "" {
		part.FileName = p.FileName
	}
	part.Provider = p.Provider
	return part, err
}

const pdf = "application/pdf"

// open returns an artifact of the thread as a part with its data. The part is a text if the artifact is gone, unwanted
// or not for models, or if the request has no room for it.
func (in *inliner) open(ctx context.Context, id spool.ArtifactID, wanted func(kind string) bool) (spool.Part, error) {
	key := id.URI()
	if part, ok := in.known[key]; ok && wanted(part.MIMEType) {
		return in.fit(part, id), nil
	}
	artifact, data, err := in.Artifacts.OpenArtifact(ctx, in.Thread, id)
	switch {
	case spool.CodeOf(err) == spool.NotFound:
		return note(spool.Artifact{ID: id}, "which is not available any more"), nil
	case err != nil:
		return spool.Part{}, err
	}
	defer data.Close()
	kind := filepart.Plain(artifact.MediaType)
	switch {
	case !wanted(kind):
		return note(artifact, "which is not shown"), nil
	case !slices.Contains(in.MediaTypes, kind), artifact.Size > int64(in.MaxBytes), filepart.IsText(kind) &&
		artifact.Size > int64(in.MaxTextBytes):
		return note(artifact, "which is not shown here"), nil
	case artifact.Size > in.room:
		return noRoom(artifact), nil
	}
	text, err := io.ReadAll(io.LimitReader(data, int64(in.MaxBytes)+1))
	if err != nil {
		return spool.Part{}, &spool.Error{
			Code: spool.Unavailable, Message: "an artifact of the prompt cannot be read", Err: err,
		}
	}
	if _, err := in.inspect(text, kind); err != nil {
		return note(artifact, "which cannot be shown"), nil
	}
	part := spool.Part{Type: spool.PartFile, FileName: artifact.Name}
	if isImage(kind) {
		part = spool.Part{Type: spool.PartImage}
	}
	part = withData(part, text, kind)
	in.known[key] = part
	return in.fit(part, id), nil
}

// fit takes the part's data from the room of the request.
func (in *inliner) fit(p spool.Part, id spool.ArtifactID) spool.Part {
	size := int64(len(source(p))) * 3 / 4
	if size > in.room {
		return noRoom(spool.Artifact{ID: id, Name: p.FileName, MediaType: p.MIMEType, Size: size})
	}
	in.room -= size
	return p
}

// note describes an artifact that the model does not get.
func note(a spool.Artifact, why string) spool.Part {
	text := fmt.Sprintf("[the file %s", a.ID)
	if a.Name != "" {
		text += fmt.Sprintf(", %q", a.Name)
	}
	if a.MediaType != "" {
		text += fmt.Sprintf(", of the type %s and %d bytes", a.MediaType, a.Size)
	}
	return spool.Part{Type: spool.PartText, Text: text + ", " + why + "]"}
}

func noRoom(a spool.Artifact) spool.Part {
	return note(a, "which this request has no room for")
}
