package config

import (
	"cmp"
	"mime"
	"strings"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/egress"
)

// Egress says which addresses the engine may connect to. The zero value allows public ones.
type Egress = egress.Policy

// AttachmentOptions say which images a user turn may have, and who fetches them.
type AttachmentOptions struct {
	// Egress says which hosts an http or https URL may name. With Fetch, it also says which addresses
	// the engine connects to, redirects included. Defaults to public addresses.
	Egress Egress
	// Fetch makes the engine fetch images by http and https when a step needs them, and send the data
	// to the model. The store keeps the URL. By default, the model gets the URL, and its provider
	// fetches the image.
	Fetch bool
	// FetchTimeout bounds the fetch of one image, redirects included. Defaults to 15 s.
	FetchTimeout time.Duration
	// MaxBytes bounds the size of one image. Defaults to 5 MiB.
	MaxBytes int
	// MaxCount bounds the number of images in a user turn. Defaults to 8.
	MaxCount int
	// MaxPixels bounds the width times the height of an image, if its format states them. Defaults to
	// 50 million.
	MaxPixels int
	// MediaTypes lists the accepted media types. Defaults to image/png, image/jpeg, image/gif and
	// image/webp.
	MediaTypes []string
}

func (o *AttachmentOptions) fill() error {
	if len(o.MediaTypes) == 0 {
		o.MediaTypes = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}
	}
	for _, t := range o.MediaTypes {
		if kind, _, err := mime.ParseMediaType(t); err != nil || kind != t || !strings.HasPrefix(t, "image/") {
			return spool.Errorf(spool.Invalid, "Config.Attachments.MediaTypes has %q, which is no image's", t)
		}
	}
	return cmp.Or(
		or("Attachments.FetchTimeout", &o.FetchTimeout, 15*time.Second),
		or("Attachments.MaxBytes", &o.MaxBytes, 5<<20),
		or("Attachments.MaxCount", &o.MaxCount, 8),
		or("Attachments.MaxPixels", &o.MaxPixels, 50_000_000),
	)
}
