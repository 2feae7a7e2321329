package auth

import (
	"context"
	"net/http"
	"net/netip"
	"time"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/server/access"
	"github.com/spoolhq/spool/server/internal/call"
	"github.com/spoolhq/spool/wire"
)

// The kinds of credentials that are counted.
const (
	FailedBearer   = "bearer"
	FailedStream   = "stream_token"
	FailedArtifact = "artifact_url"
	FailedLink     = "inbox_link"
	FailedDelivery = "delivery"
	FailedMissing  = "missing"
)

// Failed counts wrong credentials, adds them to the audit log, and delays the answer. It returns
// the error to answer with, which is err unless too many answers are delayed.
func (a *Auth) Failed(r *http.Request, kind string, err error) error {
	ctx := r.Context()
	a.config.Engine.CountFailedLogin(ctx, kind)
	if kind == FailedMissing { // nobody has guessed anything
		return err
	}
	at := access.ClientAddress(r, a.config.TrustedProxies)
	group := access.AddressGroup(at)
	v := a.failures.Fail(group, a.config.FailedLogins, time.Now())
	a.auditFailure(ctx, at, kind, v)
	switch {
	case v.Refused:
		return &call.LaterError{Err: spool.Errorf(spool.Limit, "too many attempts with wrong credentials"), After: v.Delay}
	case v.Delay > 0:
		defer a.failures.Release(group)
		a.delay(ctx, v.Delay)
	}
	return err
}

// delay waits, unless the request or the server ends.
func (a *Auth) delay(ctx context.Context, d time.Duration) {
	wait := time.NewTimer(d)
	defer wait.Stop()
	select {
	case <-wait.C:
	case <-ctx.Done():
	case <-a.config.Closing.Done():
	}
}

// auditFailure adds the failure to the audit log that belongs to no tenant.
func (a *Auth) auditFailure(ctx context.Context, at netip.Addr, kind string, v access.Setback) {
	var entries []*wire.AuditEntry
	if v.Audited > 0 {
		address := ""
		if at.IsValid() {
			address = at.String()
		}
		entries = append(entries, &wire.AuditEntry{Action: wire.AuditLogin, Address: address, Count: v.Audited, Reason: kind})
	}
	if v.Others > 0 {
		entries = append(entries, &wire.AuditEntry{Action: wire.AuditLogin, Count: v.Others, Reason: "other addresses"})
	}
	if len(entries) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTimeout)
	defer cancel()
	if err := a.config.Engine.AppendAudit(ctx, "", entries...); err != nil {
		a.config.Log.WarnContext(ctx, "failed authentication is not in the audit log", "error", err)
	}
}

// auditTimeout bounds how long the answer to wrong credentials waits for the store.
const auditTimeout = 5 * time.Second
