package webhook_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify/webhook"
)

// A new secret is one that the package takes, and no two are the same.
func TestNewSecret(t *testing.T) {
	t.Parallel()

	first, second := webhook.NewSecret(), webhook.NewSecret()
	if first == second || !strings.HasPrefix(first, "whsec_") || len(first) != len("whsec_")+44 {
		t.Errorf("NewSecret = %s, %s", first, second)
	}
	for _, s := range []string{first, second} {
		if err := webhook.CheckSecret("secret", s); err != nil {
			t.Error(err)
		}
	}
	if _, err := webhook.NewSigner([]string{first, second}); err != nil {
		t.Error(err)
	}
}

func TestCheckSecret(t *testing.T) {
	t.Parallel()

	bytes := func(n int) string { return base64.StdEncoding.EncodeToString([]byte(strings.Repeat("k", n))) }
	for name, c := range map[string]struct{ secret, want string }{
		"Least": {"whsec_" + bytes(24), ""},
		"Most":  {bytes(64), ""},
		"Short": {"whsec_" + bytes(23), "hooks.a.secret must have 24 bytes or more"},
		"Long":  {"whsec_" + bytes(65), "hooks.a.secret must have 64 bytes at the most"},
		"Empty": {"", "hooks.a.secret must have 24 bytes or more"},
		"Words": {"not base64!", `hooks.a.secret must be base64, with or without "whsec_" before it`},
	} {
		err := webhook.CheckSecret("hooks.a.secret", c.secret)
		if (err == nil) != (c.want == "") || err != nil && (spool.CodeOf(err) != spool.Invalid || err.Error() != c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A sender with longer secrets is still understood.
	if _, err := webhook.NewSigner([]string{bytes(65)}); err != nil {
		t.Error(err)
	}
}
