package access

import (
	"slices"
	"time"

	"github.com/spoolhq/spool"
)

// May reports whether the principal has a scope.
func (p Principal) May(scope Scope) bool { return slices.Contains(p.Scopes, scope) }

// Lacks is the error of something that takes another scope than its endpoint.
func Lacks(scope Scope, what string) error {
	return spool.Errorf(spool.Forbidden, "the scope %q is required for %s", scope, what)
}

// Check returns an error without a code: a principal without a tenant is a mistake in the
// authenticator.
func (p Principal) Check() error {
	if err := spool.CheckID("tenant", string(p.Tenant)); err != nil {
		return &spool.Error{Code: spool.Internal, Message: "authenticator returned a principal without a valid tenant", Err: err}
	}
	return nil
}

// ID tells principals apart. A tenant has no slash.
func (p Principal) ID() string { return string(p.Tenant) + "/" + p.Subject }

// Key names a thread of the principal's tenant.
func (p Principal) Key(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: p.Tenant, ID: id}
}

// StillValid returns an [spool.Unauthorized] error for credentials that have ended meanwhile.
func (p Principal) StillValid() error {
	if p.Valid != nil && p.Valid.Err() != nil || !p.Until.IsZero() && !time.Now().Before(p.Until) {
		return spool.Errorf(spool.Unauthorized, "the credentials are not valid any more")
	}
	return nil
}
