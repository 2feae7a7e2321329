package webhook_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	signing "github.com/spoolhq/spool/server/verify/webhook"
	"github.com/spoolhq/spool/webhook"
)

func TestNewSigner(t *testing.T) {
	t.Parallel()

	for want, secrets := range map[string][]string{
		"":                                   {secret, otherSecret},
		"a.secrets must have 1 to 4 secrets": {},
		"b.secrets must have 1 to 4 secrets": slices.Repeat([]string{secret}, 5),
		"a.secrets[1] must have 24 bytes or more":                         {signing.NewSecret(), "whsec_aGlkZGVu"},
		`a.secrets[0] must be base64, with or without "whsec_" before it`: {"hidden!"},
	} {
		field := "a.secrets"
		if strings.HasPrefix(want, "b") {
			field = "b.secrets"
		}
		s, err := webhook.NewSigner(field, secrets)
		if (err == nil) != (want == "") || err != nil && (spool.CodeOf(err) != spool.Invalid || err.Error() != want) ||
			(s == nil) != (err != nil) {
			t.Errorf("NewSigner = %v, want %s", err, want)
		}
	}
}
