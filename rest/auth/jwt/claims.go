package jwt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// Claims are the claims of a token as decoded JSON: a text is a string, a number is a float64.
type Claims map[string]any

// Text returns a claim that is a text, or "" if it is not.
func (c Claims) Text(name string) string {
	text, _ := c[name].(string)
	return text
}

// Subject returns the sub claim: the id of the principal.
func (c Claims) Subject() string { return c.Text("sub") }

// Scopes returns the granted scopes: the scope claim, or else the scp claim. Either is a list
// or a text with spaces between the scopes.
func (c Claims) Scopes() []string {
	if scopes := words(c["scope"]); len(scopes) > 0 {
		return scopes
	}
	return words(c["scp"])
}

// Decode reads the claims into a struct with json tags.
func (c Claims) Decode(into any) error {
	text, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("write claims: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read claims: %w", err)
	}
	return nil
}

func words(claim any) []string {
	switch claim := claim.(type) {
	case string:
		return strings.Fields(claim)
	case []any:
		var all []string
		for _, each := range claim {
			if word, ok := each.(string); ok && word != "" {
				all = append(all, word)
			}
		}
		return all
	default:
		return nil
	}
}

// User returns a user for the claims. Its ID is the subject, its name is the name claim, and
// its scopes are those of [Claims.Scopes]. A token without a subject is
// [rest.ErrBadCredentials]. The user is never an administrator.
func User(_ context.Context, c Claims) (*rest.User, error) {
	if c.Subject() == "" {
		return nil, fmt.Errorf("%w: the token has no subject", rest.ErrBadCredentials)
	}
	return &rest.User{ID: c.Subject(), Name: c.Text("name"), Scopes: c.Scopes()}, nil
}
