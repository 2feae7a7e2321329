package jwt

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spoolhq/spool/rest"
)

// Claims are what a token says, as JSON: text is string, numbers are float64.
type Claims map[string]any

// Text returns a claim that is text, and "" when it is not.
func (c Claims) Text(name string) string {
	text, _ := c[name].(string)
	return text
}

// Subject returns the sub claim: who the token is for.
func (c Claims) Subject() string { return c.Text("sub") }

// Scopes returns what was granted: the scope claim, which is a list or words with spaces
// between them, or else the scp claim.
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

// User makes a user of claims: its ID is the subject, without which a token is nobody's, its
// name the name claim, and its scopes those of [Claims.Scopes]. It is never an
// administrator.
func User(_ context.Context, c Claims) (*rest.User, error) {
	if c.Subject() == "" {
		return nil, fmt.Errorf("%w: the token has no subject", rest.ErrBadCredentials)
	}
	return &rest.User{ID: c.Subject(), Name: c.Text("name"), Scopes: c.Scopes()}, nil
}
