package webhook

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/spoolhq/spool"
)

// Signer signs messages. It is safe for concurrent use.
type Signer struct{ keys []key }

// NewSigner returns a signer that signs with each of the secrets, whose form is that of
// [Config.Secrets]. Give it two secrets while a receiver moves from one to the other. For a
// malformed secret, it returns an [spool.Invalid] error that has no secret in it.
func NewSigner(secrets []string) (*Signer, error) {
	keys, err := decode(secrets)
	if err != nil {
		return nil, err
	}
	return &Signer{keys}, nil
}

// Sign sets the three headers of a message. The id names the message, and is the same in all
// attempts to send it; at is the time of this attempt. The body is the exact body of the request.
//
// Sign returns an [spool.Invalid] error and sets no header for a malformed id and for a time before
// 1970. An id has 1 to 256 characters of visible ASCII, without a full stop.
func (s *Signer) Sign(h http.Header, id string, at time.Time, body []byte) error {
	if !goodID(id) {
		return spool.Errorf(spool.Invalid,
			"the id of a webhook must be visible ASCII without a full stop, 256 bytes at the most")
	}
	if at.Unix() < 0 {
		return spool.Errorf(spool.Invalid, "the time of a webhook must not be before 1970")
	}
	timestamp := strconv.FormatInt(at.Unix(), 10)
	signatures := make([]string, len(s.keys))
	for i, k := range s.keys {
		signatures[i] = k.signature(id, timestamp, body)
	}
	h.Set(HeaderID, id)
	h.Set(HeaderTimestamp, timestamp)
	h.Set(HeaderSignature, strings.Join(signatures, " "))
	return nil
}
