package spool

import (
	"slices"
)

// Access limits something to tenants and scopes. The zero value allows every caller.
type Access struct {
	// Tenants are the tenants. Left out: all.
	Tenants []Tenant `json:"tenants,omitempty" nullable:"false"`
	// Scopes, of which one is needed. Left out: none is.
	//
	// A caller needs at least one of them.
	Scopes []string `json:"scopes,omitempty" nullable:"false"`
}

// Allows reports whether a caller of the tenant with these scopes may use it.
func (a Access) Allows(tenant Tenant, scopes []string) bool {
	return (len(a.Tenants) == 0 || slices.Contains(a.Tenants, tenant)) &&
		(len(a.Scopes) == 0 || slices.ContainsFunc(scopes, func(s string) bool { return slices.Contains(a.Scopes, s) }))
}

// Limited reports whether some callers may not use it.
func (a Access) Limited() bool { return len(a.Tenants) > 0 || len(a.Scopes) > 0 }
