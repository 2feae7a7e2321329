package webhook

import (
	"bytes"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/wire"
)

// Body is a rendered body. It is stored as it is, and has no link but marks where the link goes.
type Body struct {
	ContentType string `json:"contentType"`
	Bytes       []byte `json:"bytes"`
}

var mark = []byte(wire.WebhookLinkMark)

// Linked reports whether the body needs a link.
func (b Body) Linked() bool { return bytes.Contains(b.Bytes, mark) }

// Sent is a body with its link, which must be neither stored nor logged.
type Sent struct {
	ContentType string
	Bytes       []byte
	linked      bool
}

// WithLink puts the link where the marks are. Without a mark it leaves the body as it is, whatever the link is. It
// returns an [spool.Invalid] error, without the link in it, for a link that JSON, HTML or a form would escape, and for
// one of more than 2,048 bytes.
func (b Body) WithLink(link string) (Sent, error) {
	if !b.Linked() {
		return Sent{ContentType: b.ContentType, Bytes: b.Bytes}, nil
	}
	escaped := func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"'<>&\\^`{|}", r) }
	if link == "" || len(link) > wire.MaxWebhookLink || strings.ContainsFunc(link, escaped) {
		return Sent{}, spool.Errorf(spool.Invalid,
			"a link must have 1 to %d characters that a URL has, and no & and no quote", wire.MaxWebhookLink)
	}
	return Sent{
		ContentType: b.ContentType, Bytes: bytes.ReplaceAll(b.Bytes, mark, []byte(link)), linked: true,
	}, nil
}
