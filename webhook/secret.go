package webhook

import (
	"fmt"

	"github.com/spoolhq/spool"
	signing "github.com/spoolhq/spool/server/verify/webhook"
)

// maxSecrets is how many secrets an endpoint has at the most: each makes a signature of its own.
const maxSecrets = 4

// NewSigner returns what signs for an endpoint, with each of its secrets: two of them while the receiver moves from one
// to the other. It returns an [spool.Invalid] error that begins with the name of the field for more than four secrets,
// for none, and for one that is not the base64 of 24 to 64 bytes, with or without "whsec_" before it. The error has no
// secret in it. [signing.NewSecret] makes one.
func NewSigner(field string, secrets []string) (*signing.Signer, error) {
	if len(secrets) == 0 || len(secrets) > maxSecrets {
		return nil, spool.Errorf(spool.Invalid, "%s must have 1 to %d secrets", field, maxSecrets)
	}
	for i, s := range secrets {
		if err := signing.CheckSecret(fmt.Sprintf("%s[%d]", field, i), s); err != nil {
			return nil, err
		}
	}
	return signing.NewSigner(secrets)
}
