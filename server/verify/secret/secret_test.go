package secret_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/verify"
	"github.com/spoolhq/spool/server/verify/secret"
)

var _ verify.Verifier = (*secret.Verifier)(nil)

const (
	current = "current-secret-0123456789"
	next    = "next-secret-9876543210"
)

func TestVerify(t *testing.T) {
	t.Parallel()

	const wrong = "the secret of the delivery is wrong"
	for name, c := range map[string]struct {
		config secret.Config
		header http.Header
		want   string
	}{
		"Bearer": {header: http.Header{"Authorization": {"Bearer " + current}}},
		"Next":   {header: http.Header{"Authorization": {"bearer " + next}}},
		"OwnHeader": {
			config: secret.Config{Header: "x-queue-secret"},
			header: http.Header{"X-Queue-Secret": {current}},
		},
		"NamedDefault": {
			config: secret.Config{Header: "authorization"},
			header: http.Header{"Authorization": {"Bearer " + current}},
		},
		"Retired": {
			config: secret.Config{Secrets: []string{next}},
			header: http.Header{"Authorization": {"Bearer " + current}},
			want:   wrong,
		},
		"Missing": {header: http.Header{}, want: "the header Authorization is missing"},
		"Empty": {
			header: http.Header{"Authorization": {"Bearer "}}, want: "the header Authorization has no bearer token",
		},
		"OtherScheme": {
			header: http.Header{"Authorization": {"Basic " + current}}, want: "the header Authorization has no bearer token",
		},
		"Bare": {
			header: http.Header{"Authorization": {current}}, want: "the header Authorization has no bearer token",
		},
		"Twice": {
			header: http.Header{"Authorization": {"Bearer guess", "Bearer " + current}},
			want:   "the header Authorization is there twice",
		},
		"Prefix": {header: http.Header{"Authorization": {"Bearer " + current[:24]}}, want: wrong},
		"Longer": {header: http.Header{"Authorization": {"Bearer " + current + "0"}}, want: wrong},
		"Both":   {header: http.Header{"Authorization": {"Bearer " + current + " " + next}}, want: wrong},
		"Case":   {header: http.Header{"Authorization": {"Bearer " + strings.ToUpper(current)}}, want: wrong},
		"OtherHeader": {
			config: secret.Config{Header: "X-Queue-Secret"},
			header: http.Header{"Authorization": {"Bearer " + current}},
			want:   "the header X-Queue-Secret is missing",
		},
		"OwnHeaderWrong": {
			config: secret.Config{Header: "X-Queue-Secret"},
			header: http.Header{"X-Queue-Secret": {"guess"}},
			want:   wrong,
		},
		"OwnHeaderEmpty": {
			config: secret.Config{Header: "X-Queue-Secret"},
			header: http.Header{"X-Queue-Secret": {""}},
			want:   "the header X-Queue-Secret is missing",
		},
		"OwnHeaderBearing": {
			config: secret.Config{Header: "X-Queue-Secret"},
			header: http.Header{"X-Queue-Secret": {"Bearer " + current}},
			want:   wrong,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if c.config.Secrets == nil {
				c.config.Secrets = []string{current, next}
			}
			v, err := secret.New(c.config)
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			if err := v.Verify(&http.Request{Header: c.header}, []byte("{}")); err != nil {
				text = err.Error()
			}
			if text != c.want {
				t.Errorf("Verify = %q, want %q", text, c.want)
			}
		})
	}
}

func TestConfig(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		config secret.Config
		want   string
	}{
		"None":  {secret.Config{}, "Secrets is required"},
		"Empty": {secret.Config{Secrets: []string{current, ""}}, "Secrets[1] must be visible ASCII, 16 characters or more"},
		"Short": {secret.Config{Secrets: []string{"hunter2"}}, "Secrets[0] must be visible ASCII, 16 characters or more"},
		"Newline": {
			secret.Config{Secrets: []string{current + "\n"}}, "Secrets[0] must be visible ASCII, 16 characters or more",
		},
		"Header": {secret.Config{Secrets: []string{current}, Header: "X Secret"}, "Header must be the name of a header"},
		"Colon":  {secret.Config{Secrets: []string{current}, Header: "X-Secret:"}, "Header must be the name of a header"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := secret.New(c.config)
			if spool.CodeOf(err) != spool.Invalid || spool.MessageOf(err) != c.want {
				t.Errorf("New = %v, want %s", err, c.want)
			}
		})
	}
}
