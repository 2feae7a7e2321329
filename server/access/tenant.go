package access

import "github.com/spoolhq/spool"

// Check returns an error without a code for a principal without a tenant, which is a mistake in the
// authenticator.
func (p Principal) Check() error {
	if err := spool.CheckID("tenant", string(p.Tenant)); err != nil {
		return &spool.Error{
			Code: spool.Internal, Message: "authenticator returned a principal without a valid tenant", Err: err,
		}
	}
	return nil
}

// ID returns a text that identifies the principal. A tenant has no slash, so it is unique.
func (p Principal) ID() string { return string(p.Tenant) + "/" + p.Subject }

// Key returns the key of a thread of the principal's tenant. It is what keeps a request within its tenant: a thread of
// another tenant has another key. Only an operator may name another tenant: see package admin.
func (p Principal) Key(id spool.ThreadID) spool.ThreadKey {
	return spool.ThreadKey{Tenant: p.Tenant, ID: id}
}
