package access

import (
	"strings"

	"github.com/spoolhq/spool"
)

// The beginnings of the subjects that webhooks and schedules have, which no principal may have.
const (
	WebhookSubject  = "webhook:"
	ScheduleSubject = "schedule:"
)

// CheckSubject returns an [spool.Invalid] error for a subject that begins as those of webhooks or schedules.
func CheckSubject(subject string) error {
	for _, own := range []string{WebhookSubject, ScheduleSubject} {
		if strings.HasPrefix(subject, own) {
			return spool.Errorf(spool.Invalid, "a subject must not begin with %q, as those of the server itself do", own)
		}
	}
	return nil
}

// Check returns an error without a code for a principal without a tenant, which is a mistake in the
// authenticator. It returns a [spool.Forbidden] error for a subject that [CheckSubject] refuses.
func (p Principal) Check() error {
	if err := spool.CheckID("tenant", string(p.Tenant)); err != nil {
		return &spool.Error{
			Code: spool.Internal, Message: "authenticator returned a principal without a valid tenant", Err: err,
		}
	}
	if err := CheckSubject(p.Subject); err != nil {
		return &spool.Error{Code: spool.Forbidden, Message: spool.MessageOf(err)}
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
