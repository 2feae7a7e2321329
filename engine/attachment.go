package engine

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
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/egress"
)

// maxURL bounds the URL of an image elsewhere, in bytes.
const maxURL = 8 << 10

// Egress says which addresses may be reached. The zero value allows public ones.
type Egress = egress.Policy

// AttachmentOptions say which images a user turn may have, and who fetches them.
type AttachmentOptions struct {
	// Egress says which hosts an http or https URL may name and, with Fetch, which addresses
	// are dialled for it, also behind a redirect. Defaults to public ones.
	Egress Egress
	// Fetch has the engine fetch images by http and https when a step needs them, and give
	// the model the data. What is saved stays the URL. Defaults to giving the model the URL,
	// which its provider then fetches.
	Fetch bool
	// FetchTimeout bounds the fetch of one image, redirects included. Defaults to 15 s.
	FetchTimeout time.Duration
	// MaxBytes bounds the data of one image. Defaults to 5 MiB.
	MaxBytes int
	// MaxCount bounds how many a turn has. Defaults to 8.
	MaxCount int
	// MaxPixels bounds the width times the height of an image whose format tells. Defaults to
	// 50 million.
	MaxPixels int
	// MediaTypes are those that are accepted. Defaults to image/png, image/jpeg, image/gif and
	// image/webp.
	MediaTypes []string
}

func (o AttachmentOptions) check() (AttachmentOptions, error) {
	if o.FetchTimeout < 0 || o.MaxBytes < 0 || o.MaxCount < 0 || o.MaxPixels < 0 {
		return o, spool.Errorf(spool.Invalid, "Config.Attachments has a negative bound")
	}
	if o.FetchTimeout == 0 {
		o.FetchTimeout = 15 * time.Second
	}
	if o.MaxBytes == 0 {
		o.MaxBytes = 5 << 20
	}
	if o.MaxCount == 0 {
		o.MaxCount = 8
	}
	if o.MaxPixels == 0 {
		o.MaxPixels = 50_000_000
	}
	if len(o.MediaTypes) == 0 {
		o.MediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	}
	for _, t := range o.MediaTypes {
		if kind, _, err := mime.ParseMediaType(t); err != nil || kind != t || !strings.HasPrefix(t, "image/") {
			return o, spool.Errorf(spool.Invalid, "Config.Attachments.MediaTypes has %q, which is no image's", t)
		}
	}
	return o, nil
}

// attachments checks images, and fetches them.
type attachments struct {
	AttachmentOptions

	hosts  *egress.Hosts
	client *http.Client // nil without Fetch
}

func newAttachments(o AttachmentOptions) (*attachments, error) {
	a := &attachments{AttachmentOptions: o}
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

// checkAll returns an [spool.Invalid] error that names the attachment which is refused.
func (a *attachments) checkAll(all []Attachment) error {
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

func (a *attachments) check(one Attachment) error {
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
func (a *attachments) checkType(media string) error {
	if media != "" && !slices.Contains(a.MediaTypes, mediaType(media)) {
		return spool.Errorf(spool.Invalid, "mediaType must be %s", strings.Join(a.MediaTypes, ", "))
	}
	return nil
}

// mediaType returns the type alone, as it is spelled by those who are right.
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
func (a *attachments) checkData(one Attachment) error {
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
func (a *attachments) inspect(data []byte, declared string) (media string, err error) {
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
