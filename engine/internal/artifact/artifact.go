// Package artifact checks artifacts before they are saved: their names, and their types by their data.
package artifact

import (
	"bufio"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/store"
)

const (
	// maxName bounds a name, in characters.
	maxName = 200
	// headBytes is how much of the data tells its type.
	headBytes = 512
	unknown   = "application/octet-stream"
)

// Save saves an artifact of a thread with a name that people can read, and with a type that its data have.
func Save(
	ctx context.Context, db store.ArtifactStore, key spool.ThreadKey, a spool.NewArtifact,
) (spool.Artifact, error) {
	if a.Data == nil {
		a.Data = strings.NewReader("")
	}
	data := bufio.NewReaderSize(a.Data, headBytes)
	head, err := data.Peek(headBytes)
	if err != nil && !errors.Is(err, io.EOF) {
		return spool.Artifact{}, &spool.Error{
			Code: spool.Invalid, Message: "the data of an artifact cannot be read", Err: err,
		}
	}
	a.Name, a.MediaType, a.Data = Name(a.Name), Type(a.MediaType, head), data
	return db.SaveArtifact(ctx, key, a)
}

// Name returns the last element of a name, and at most 200 characters of it. Control characters are left out, also
// those that turn the direction of a text, with which "fdp.exe" can look like "exe.pdf".
func Name(name string) string {
	name = strings.ToValidUTF8(strings.ReplaceAll(name, "\\", "/"), "")
	name = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return -1
		}
		return r
	}, name))
	if name = path.Base(name); name == "." || name == "/" || name == ".." {
		return ""
	}
	if runes := []rune(name); len(runes) > maxName {
		return string(runes[:maxName])
	}
	return name
}

// Type returns the type of data by their beginning. The declared type counts where the data leave it open: a text does
// not tell its language, and many formats have no mark. application/octet-stream says that the type is not known.
// Data never pass for an image or a PDF that they are not.
func Type(declared string, head []byte) string {
	declared, _, err := mime.ParseMediaType(declared)
	if err != nil {
		declared = ""
	}
	found, _, _ := mime.ParseMediaType(http.DetectContentType(head))
	switch claims := strings.HasPrefix(declared, "image/") || declared == "application/pdf"; {
	case declared == "", declared == unknown, claims, strings.HasPrefix(found, "image/"), found == "application/pdf":
		return found
	case strings.HasPrefix(found, "text/"), found == unknown, found == "application/zip", found == "application/x-gzip":
		return declared
	default:
		return found
	}
}
