// Package attach validates the images and files of user turns, and fetches them for the model if the
// configuration says so.
//
// It connects to hosts only through egress, and knows neither the store nor the run.
package attach

import (
	"bytes"
	"encoding/base64"
	"errors"
	"image"
	_ "image/gif"  // sizes of images
	_ "image/jpeg" // sizes of images
	_ "image/png"  // sizes of images
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/egress"
	"github.com/spoolhq/spool/engine/option"
	"github.com/spoolhq/spool/internal/filepart"
	"github.com/spoolhq/spool/store"
	"github.com/spoolhq/spool/wire"
)

const (
	// maxURL bounds the URL of a remote file, in bytes.
	maxURL = 8 << 10
	// maxName bounds the name of a file, in characters.
	maxName = 200
)

// Files validates and fetches images and other files. It is safe for concurrent use.
type Files struct {
	option.Attachments

	// Artifacts stores artifacts. Nil: the engine stores none.
	Artifacts store.ArtifactStore
	// KeepInline says that data URLs stay in their messages, whatever their size.
	KeepInline bool

	hosts  *egress.Hosts
	client *http.Client // nil without Fetch
}

// New returns a Files for options whose defaults are filled in. It returns an [spool.Invalid] error
// that names an invalid option.
func New(o option.Attachments) (*Files, error) {
	a := &Files{Attachments: o}
	hosts, err := egress.NewHosts(o.Egress)
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "Config.Attachments.Egress.%s", spool.MessageOf(err))
	}
	a.hosts = hosts
	if !o.Fetch {
		return a, nil
	}
	transport, err := egress.New(o.Egress)
	if err != nil {
		return nil, err
	}
	a.client = &http.Client{Transport: transport, CheckRedirect: a.redirect, Timeout: o.FetchTimeout}
	return a, nil
}

// Parts returns the parts of a user turn for its attachments. It returns an [spool.Invalid] error that names
// the refused attachment.
func (a *Files) Parts(all []wire.Attachment) (spool.Content, error) {
	if len(all) > a.MaxCount {
		return nil, spool.Errorf(spool.Invalid, "attachments has more than %d files", a.MaxCount)
	}
	var parts spool.Content
	for i, one := range all {
		part, err := a.part(one)
		if err != nil {
			return nil, spool.Errorf(spool.Invalid, "attachments[%d].%s", i, spool.MessageOf(err))
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// part returns the part for an attachment.
func (a *Files) part(one wire.Attachment) (spool.Part, error) {
	if id, isArtifact := spool.ArtifactOf(one.URL); isArtifact && one.ArtifactID == "" {
		one.ArtifactID, one.URL = id, ""
	}
	if one.ArtifactID != "" {
		return a.artifactPart(one)
	}
	kind, err := a.check(one)
	switch {
	case err != nil:
		return spool.Part{}, err
	case !validName(one.Name):
		return spool.Part{}, errName
	case isImage(kind):
		return spool.Part{Type: spool.PartImage, Image: one.URL, MIMEType: one.MediaType}, nil
	default:
		return spool.Part{Type: spool.PartFile, File: one.URL, MIMEType: kind, FileName: one.Name}, nil
	}
}

var errName = spool.Errorf(spool.Invalid, "name must have up to %d characters and no control characters", maxName)

func validName(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxName &&
		!strings.ContainsFunc(name, unicode.IsControl)
}

// check returns the media type of an attachment. It is empty for a URL whose type nothing says.
func (a *Files) check(one wire.Attachment) (kind string, err error) {
	u, err := url.Parse(one.URL)
	switch {
	case one.URL == "":
		return "", spool.Errorf(spool.Invalid, "url or artifactId is required")
	case err != nil:
		return "", spool.Errorf(spool.Invalid, "url must be an http, https or data URL")
	case u.Scheme == "data":
		return a.checkData(one)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return "", spool.Errorf(spool.Invalid, "url must be an http, https or data URL")
	case u.User != nil:
		return "", spool.Errorf(spool.Invalid, "url must not have credentials")
	case len(one.URL) > maxURL:
		return "", spool.Errorf(spool.Invalid, "url is longer than %d bytes", maxURL)
	case a.hosts.Check(u.Hostname()) != nil:
		return "", spool.Errorf(spool.Invalid, "url names a host that is not allowed")
	}
	if one.MediaType == "" {
		return a.kindOfName(u.Path), nil
	}
	return mediaType(one.MediaType), a.checkType(one.MediaType)
}

// checkType returns an error for a media type that is not accepted. It accepts an empty type.
func (a *Files) checkType(media string) error {
	if media != "" && !slices.Contains(a.MediaTypes, mediaType(media)) {
		return spool.Errorf(spool.Invalid, "mediaType must be %s", strings.Join(a.MediaTypes, ", "))
	}
	return nil
}

// mediaType returns the media type in its registered spelling, without parameters.
func mediaType(media string) string {
	kind, _, err := mime.ParseMediaType(media)
	switch {
	case err != nil:
		return ""
	case kind == "image/jpg":
		return "image/jpeg"
	default:
		return kind
	}
}

// checkData returns the type of a data URL. It validates the data as well as their declared type.
func (a *Files) checkData(one wire.Attachment) (kind string, err error) {
	declared, text, encoded, ok := cutData(one.URL)
	if !ok {
		return "", spool.Errorf(spool.Invalid, "url is no data URL that can be read")
	}
	for _, media := range []string{one.MediaType, declared} {
		if err := a.checkType(media); err != nil {
			return "", err
		}
	}
	if one.MediaType != "" && declared != "" && mediaType(one.MediaType) != mediaType(declared) {
		return "", spool.Errorf(spool.Invalid, "mediaType is not the one of the data URL")
	}
	if len(text) > 3*a.MaxBytes+4 { // each byte may be percent-encoded
		return "", spool.Errorf(spool.Invalid, "url holds more than %d bytes", a.MaxBytes)
	}
	data, err := decodeData(text, encoded)
	if err != nil {
		return "", spool.Errorf(spool.Invalid, "url is no data URL that can be read")
	}
	media := one.MediaType
	if media == "" {
		media = declared
	}
	return a.inspect(data, media)
}

// cutData splits a data URL into its media type and its data. Encoded is true for base64.
func cutData(text string) (media, data string, encoded, ok bool) {
	_, rest, _ := strings.Cut(text, ":")
	head, data, ok := strings.Cut(rest, ",")
	media, encoded = strings.CutSuffix(head, ";base64")
	return media, data, encoded, ok
}

func decodeData(text string, encoded bool) ([]byte, error) {
	plain, err := url.PathUnescape(text)
	if err != nil || !encoded {
		return []byte(plain), err
	}
	return base64.RawStdEncoding.DecodeString(strings.TrimRight(plain, "="))
}

// inspect returns the media type of a file's data. It returns an [spool.Invalid] error that names
// url if the data are too large, not of an accepted type, or not of the declared type.
func (a *Files) inspect(data []byte, declared string) (media string, err error) {
	found := mediaType(http.DetectContentType(data))
	if kind := mediaType(declared); filepart.IsText(kind) && strings.HasPrefix(found, "text/") {
		found = kind // a text does not tell which
	}
	switch {
	case len(data) > a.MaxBytes:
		return "", spool.Errorf(spool.Invalid, "url holds more than %d bytes", a.MaxBytes)
	case len(data) == 0, !slices.Contains(a.MediaTypes, found):
		return "", spool.Errorf(spool.Invalid, "url holds no file of a type that is accepted")
	case declared != "" && mediaType(declared) != found:
		return "", spool.Errorf(spool.Invalid, "url holds %s, and is said to be %s", found, mediaType(declared))
	case isImage(found):
		return found, a.inspectImage(data, found)
	case filepart.IsText(found):
		return found, a.inspectText(data)
	default:
		return found, nil
	}
}

func (a *Files) inspectImage(data []byte, found string) error {
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat): // the standard library cannot decode this format
		return nil
	case err != nil:
		return spool.Errorf(spool.Invalid, "url holds an image that cannot be read")
	case size.Width <= 0 || size.Height <= 0 || size.Width > a.MaxPixels/size.Height:
		return spool.Errorf(spool.Invalid, "url holds an image of more than %d pixels", a.MaxPixels)
	case found == "image/png" && !wholePNG(data):
		return spool.Errorf(spool.Invalid, "url holds an image that cannot be read")
	default:
		return nil
	}
}

// maxRedirects bounds the redirects of a URL.
const maxRedirects = 3

// redirect validates each redirect like a requested URL. It forwards nothing from the previous request.
func (a *Files) redirect(r *http.Request, via []*http.Request) error {
	switch before := via[len(via)-1].URL; {
	case len(via) > maxRedirects:
		return spool.Errorf(spool.Invalid, "leads on more than %d times", maxRedirects)
	case r.URL.Scheme != "https" && (r.URL.Scheme != "http" || before.Scheme == "https"):
		return spool.Errorf(spool.Invalid, "leads on to another scheme")
	case r.URL.User != nil:
		return spool.Errorf(spool.Invalid, "leads on to a URL with credentials")
	}
	r.Header.Del("Referer")
	return a.hosts.Check(r.URL.Hostname())
}
