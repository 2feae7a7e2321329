// Package attach checks the images of user turns and fetches them for the model where
// the configuration asks for that.
//
// It reaches hosts by internal/egress only. It imports the root package and internal/egress, and
// knows neither the store nor the run.
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

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/engine/config"
	"github.com/spoolhq/spool/internal/egress"
)

// maxURL bounds the URL of an image elsewhere, in bytes.
const maxURL = 8 << 10

// Images checks images, and fetches them. It is safe for concurrent use.
type Images struct {
	config.AttachmentOptions

	hosts  *egress.Hosts
	client *http.Client // nil without Fetch
}

// New returns what checks and fetches images. It returns an [spool.Invalid] error that names the
// option which is wrong. The options have their defaults.
func New(o config.AttachmentOptions) (*Images, error) {
	a := &Images{AttachmentOptions: o}
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

// CheckAll returns an [spool.Invalid] error that names the attachment which is refused.
func (a *Images) CheckAll(all []spool.Attachment) error {
	if len(all) > a.MaxCount {
		return spool.Errorf(spool.Invalid, "attachments has more than %d images", a.MaxCount)
	}
	for i, one := range all {
		if err := a.check(one); err != nil {
			return spool.Errorf(spool.Invalid, "attachments[%d].%s", i, spool.MessageOf(err))
		}
	}
	return nil
}

func (a *Images) check(one spool.Attachment) error {
	u, err := url.Parse(one.URL)
	switch {
	case one.URL == "":
		return spool.Errorf(spool.Invalid, "url is required")
	case err != nil:
		return spool.Errorf(spool.Invalid, "url must be an http, https or data URL")
	case u.Scheme == "data":
		return a.checkData(one)
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return spool.Errorf(spool.Invalid, "url must be an http, https or data URL")
	case u.User != nil:
		return spool.Errorf(spool.Invalid, "url must not have credentials")
	case len(one.URL) > maxURL:
		return spool.Errorf(spool.Invalid, "url is longer than %d bytes", maxURL)
	case a.hosts.Check(u.Hostname()) != nil:
		return spool.Errorf(spool.Invalid, "url names a host that is not allowed")
	}
	return a.checkType(one.MediaType)
}

// checkType accepts no type, too.
func (a *Images) checkType(media string) error {
	if media != "" && !slices.Contains(a.MediaTypes, mediaType(media)) {
		return spool.Errorf(spool.Invalid, "mediaType must be %s", strings.Join(a.MediaTypes, ", "))
	}
	return nil
}

// mediaType returns the type alone, in its registered spelling.
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

// checkData looks at what a data URL holds, and not only at what it says.
func (a *Images) checkData(one spool.Attachment) error {
	declared, text, encoded, ok := cutData(one.URL)
	if !ok {
		return spool.Errorf(spool.Invalid, "url is no data URL that can be read")
	}
	for _, media := range []string{one.MediaType, declared} {
		if err := a.checkType(media); err != nil {
			return err
		}
	}
	if one.MediaType != "" && declared != "" && mediaType(one.MediaType) != mediaType(declared) {
		return spool.Errorf(spool.Invalid, "mediaType is not the one of the data URL")
	}
	if len(text) > 3*a.MaxBytes+4 { // percent-encoded at the worst
		return spool.Errorf(spool.Invalid, "url holds more than %d bytes", a.MaxBytes)
	}
	data, err := decodeData(text, encoded)
	if err != nil {
		return spool.Errorf(spool.Invalid, "url is no data URL that can be read")
	}
	media := one.MediaType
	if media == "" {
		media = declared
	}
	_, err = a.inspect(data, media)
	return err
}

// cutData takes a data URL apart.
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

// inspect returns what the data of an image is, or an [spool.Invalid] error that names url:
// for what is too large, no image of an accepted type, or not of the type that it is said to
// be.
func (a *Images) inspect(data []byte, declared string) (media string, err error) {
	found := mediaType(http.DetectContentType(data))
	switch {
	case len(data) > a.MaxBytes:
		return "", spool.Errorf(spool.Invalid, "url holds more than %d bytes", a.MaxBytes)
	case !slices.Contains(a.MediaTypes, found):
		return "", spool.Errorf(spool.Invalid, "url holds no image of a type that is accepted")
	case declared != "" && mediaType(declared) != found:
		return "", spool.Errorf(spool.Invalid, "url holds %s, and is said to be %s", found, mediaType(declared))
	}
	size, _, err := image.DecodeConfig(bytes.NewReader(data))
	switch {
	case errors.Is(err, image.ErrFormat): // one that the standard library does not read
		return found, nil
	case err != nil:
		return "", spool.Errorf(spool.Invalid, "url holds an image that cannot be read")
	case size.Width <= 0 || size.Height <= 0 || size.Width > a.MaxPixels/size.Height:
		return "", spool.Errorf(spool.Invalid, "url holds an image of more than %d pixels", a.MaxPixels)
	case found == "image/png" && !wholePNG(data):
		return "", spool.Errorf(spool.Invalid, "url holds an image that cannot be read")
	default:
		return found, nil
	}
}

// maxRedirects bounds how far the URL of an image leads on.
const maxRedirects = 3

// redirect checks each hop as if it had been asked for. Nothing of the hop before goes along.
func (a *Images) redirect(r *http.Request, via []*http.Request) error {
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
