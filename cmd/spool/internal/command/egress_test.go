package command

import (
	"testing"

	"github.com/spoolhq/spool/cmd/spool/internal/config"
)

// Tools reach private addresses on a server that only this machine can reach and that has no
// tokens. One with tokens may stand behind a proxy.
func TestEgress(t *testing.T) {
	t.Parallel()

	token := []config.Token{{Token: "x"}}
	for name, c := range map[string]struct {
		listen string
		tokens []config.Token
		want   bool
	}{
		"Loopback":      {"127.0.0.1:8080", nil, true},
		"LoopbackToken": {"127.0.0.1:8080", token, false},
		"Open":          {"0.0.0.0:8080", token, false},
	} {
		got := egressOf(options{listen: c.listen}, &config.Config{Tokens: c.tokens, Egress: []string{"10.0.0.1"}})
		if got.AllowPrivate != c.want || len(got.Allow) != 1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
