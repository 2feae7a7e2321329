package spool

import (
	"slices"
)

// Access limits something to tenants and scopes. The zero value allows every caller.
type Access struct {
	// Tenants are the tenants that may use it. Empty: all.
	Tenants []Tenant `doc:"The tenants. Left out: all." json:"tenants,omitempty" nullable:"false"`
	// Scopes are scopes. A caller needs at least one of them. Empty: none is needed.
	Scopes []string `doc:"Scopes, of which one is needed. Left out: none is." json:"scopes,omitempty" nullable:"false"`
}

// Allows reports whether a caller of the tenant with these scopes may use it.
func (a Access) Allows(tenant Tenant, scopes []string) bool {
	return (len(a.Tenants) == 0 || slices.Contains(a.Tenants, tenant)) &&
		(len(a.Scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(a.Scopes, s) }))
}

// Limited reports whether some callers may not use it.
func (a Access) Limited() bool { return len(a.Tenants) > 0 || len(a.Scopes) > 0 }
