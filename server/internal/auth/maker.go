package auth

import (
	"context"

	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// Maker returns the caller of ctx as the maker of something that acts later.
func (a *Auth) Maker(ctx context.Context) wire.Maker {
	p := call.By(ctx)
	m := wire.Maker{
		Tenant: p.Tenant, Subject: p.Subject, Kind: wire.MakerPrincipal, Credentials: p.Credentials, Until: p.Until,
		Rights: wire.Rights{
			Scopes: p.ScopeNames(), OwnOnly: call.OwnOnly(ctx, p), MayNotStop: !p.May(access.ScopeStop),
		},
	}
	if a.vouches(p) {
		m.Kind = wire.MakerToken
	}
	return m
}

// vouches reports whether the authenticator still knows later whether the principal's credentials are good.
func (a *Auth) vouches(p access.Principal) bool {
	_, vouches := a.config.Authenticator.(access.Voucher)
	return vouches && p.Credentials != ""
}
