package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// maxFiles bounds the files of an answer. Of all further ones, the message has one text.
const maxFiles = 16

// file saves a file that the model made, and adds its part to the answer. A file that cannot be saved becomes a text
// that says why, so that nobody takes the answer for one without it.
func (c *call) file(ctx context.Context, file spool.FileMade, t *Turn) {
	if t.files++; t.files > maxFiles+1 {
		return
	}
	part, err := spool.Part{}, error(spool.ErrNoArtifacts)
	switch {
	case len(file.Data) == 0:
		err = spool.Errorf(spool.Invalid, "it has no data")
	case t.files > maxFiles:
		err = spool.Errorf(spool.Limit, "an answer may have %d files, and this and all further ones are left out", maxFiles)
	case c.SaveFile != nil:
		part, err = c.SaveFile(ctx, t.files, file)
	}
	if err == nil {
		part.Provider = file.Provider
		c.Events.Item(ctx, wire.ItemFile, wire.FileShown{
			Image: part.Image, File: part.File, MIMEType: part.MIMEType, FileName: part.FileName,
		})
		t.gathered.Add(part)
		return
	}
	c.logger().WarnContext(ctx, "a file of the model's answer was not saved",
		"step", c.Run.Steps+1, "media_type", file.MediaType, "bytes", len(file.Data), "error", err)
	kind := "a file"
	if strings.HasPrefix(file.MediaType, "image/") {
		kind = "an image"
	}
	text := fmt.Sprintf("[%s of %d bytes, which was not saved: %s]", kind, len(file.Data), spool.MessageOf(err))
	c.Events.Text(ctx, text)
	t.gathered.AddText(spool.PartText, text)
	t.gathered.End(spool.PartText, file.Provider)
	c.Events.EndBlock(ctx)
}
