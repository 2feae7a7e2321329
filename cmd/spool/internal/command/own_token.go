package command

import (
	"crypto/rand"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/cmd/spool/internal/config"
	"github.com/spoolhq/spool/server/access"
)

// tokenVariable is the variable with the only token of a server whose configuration has none.
const tokenVariable = "SPOOL_TOKEN"

// withOwnToken adds the token in SPOOL_TOKEN to a configuration without tokens, for the default tenant
// with all scopes. If the variable is empty and other machines can reach the server, it adds a random
// token, and returns it for the banner. Otherwise it returns "".
func withOwnToken(c *config.Config, o options, lookup func(string) (string, bool)) (printed string, err error) {
	if len(c.Tokens) > 0 {
		return "", nil
	}
	token, _ := lookup(tokenVariable)
	switch {
	case strings.ContainsAny(token, " \t\r\n"):
		return "", usagef("%s: must not have spaces", tokenVariable)
	case token != "" && len(token) < config.MinToken:
		return "", usagef("%s: is shorter than %d characters", tokenVariable, config.MinToken)
	case token == "" && o.loopback():
		return "", nil
	case token == "":
		printed = rand.Text()
		token = printed
	}
	own := config.Token{Token: token, Tenant: spool.DefaultTenant}
	for _, scope := range access.AllScopes() {
		own.Scopes = append(own.Scopes, string(scope))
	}
	c.Tokens = []config.Token{own}
	return printed, nil
}
