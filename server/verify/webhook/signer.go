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

// NewSigner returns a signer that signs with each of the secrets, which look as those of
// [Config] do: two of them while a receiver goes from one to the other. It returns an
// [spool.Invalid] error, without a secret in it, when it cannot.
func NewSigner(secrets []string) (*Signer, error) {
	keys, err := decode(secrets)
	if err != nil {
		return nil, err
	}
	return &Signer{keys}, nil
}

// Sign sets the three headers of a message. The id names it and stays the same when it is
// sent again, while at is the time of this attempt. The body is what will be sent, byte for
// byte. Sign returns an [spool.Invalid] error, and sets nothing, for an id that is empty, has
// more than 256 bytes, or has a full stop or anything but visible ASCII in it, and for a
// time before 1970.
func (s *Signer) Sign(h http.Header, id string, at time.Time, body []byte) error {
	if !goodID(id) {
		return spool.Errorf(spool.Invalid, "the id of a webhook must be visible ASCII without a full stop, 256 bytes at the most")
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
