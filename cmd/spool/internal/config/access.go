package config

import (
	"regexp"
	"slices"

	"github.com/spoolhq/spool"
)

// ownScope matches a scope of the configuration's own, for only_for.
var ownScope = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}:[A-Za-z0-9._-]{1,64}$`)

// knownScope reports whether a token can have the scope.
func knownScope(scope string) bool {
	return slices.Contains(scopes, scope) || ownScope.MatchString(scope)
}

// onlyFor reads who may use an agent, a model or a tool.
func onlyFor(v value) (a spool.Access) {
	if !v.present() {
		return a
	}
	if v.d.anonymous {
		v.problemf("needs auth.tokens, as nobody is asked who they are")
	}
	f := v.fields("tenants", "scopes")
	for _, item := range f["tenants"].items() {
		tenant := item.text()
		if err := spool.CheckID("the tenant", tenant); err != nil && !item.complained() {
			item.problemf("%s", spool.MessageOf(err))
		}
		a.Tenants = append(a.Tenants, spool.Tenant(tenant))
	}
	for _, item := range f["scopes"].items() {
		scope := item.text()
		if !knownScope(scope) && !item.complained() {
			item.problemf(`must be a scope of a token, or one of your own such as "team:sales"`)
		}
		a.Scopes = append(a.Scopes, scope)
	}
	if !a.Limited() && !v.complained() {
		v.problemf("needs tenants or scopes")
	}
	return a
}
