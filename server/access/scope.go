package access

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// May reports whether the principal has a scope.
func (p Principal) May(scope Scope) bool { return slices.Contains(p.Scopes, scope) }

// Lacks returns the error of an action that needs another scope than its endpoint.
func Lacks(scope Scope, what string) error {
	return spool.Errorf(spool.Forbidden, "the scope %q is required for %s", scope, what)
}

// StillValid returns an [spool.Unauthorized] error if the credentials have expired in the meantime.
func (p Principal) StillValid() error {
	if p.Valid != nil && p.Valid.Err() != nil || !p.Until.IsZero() && !time.Now().Before(p.Until) {
		return spool.Errorf(spool.Unauthorized, "the credentials are not valid any more")
	}
	return nil
}
