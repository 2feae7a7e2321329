package spool

import "slices"

// Access says who may use something. The zero value lets everybody.
type Access struct {
	// Tenants are those that may use it. Empty: all.
	Tenants []Tenant
	// Scopes are those of which a caller needs one. Empty: none is needed.
	Scopes []string
}

// Allows reports whether a caller of the tenant with these scopes may use it.
func (a Access) Allows(tenant Tenant, scopes []string) bool {
	return (len(a.Tenants) == 0 || slices.Contains(a.Tenants, tenant)) &&
		(len(a.Scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(a.Scopes, s) }))
}

// Limited reports whether somebody may not use it.
func (a Access) Limited() bool { return len(a.Tenants) > 0 || len(a.Scopes) > 0 }
