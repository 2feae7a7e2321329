package server

import (
	"slices"

	"github.com/spoolhq/spool"
)

// may reports whether the principal has a scope.
func (p Principal) may(scope Scope) bool { return slices.Contains(p.Scopes, scope) }

// lacks is the error of something that takes another scope than its endpoint.
func lacks(scope Scope, what string) error {
	return spool.Errorf(spool.Forbidden, "the scope %q is required for %s", scope, what)
}
