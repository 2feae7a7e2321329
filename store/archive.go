package store

import (
	"context"

	"github.com/spoolhq/spool"
)

// Archive is an optional part of a [Store]: it hands over all that the store has, and takes what another store,
// of the same kind or not, has handed over. The data comes in sections. Each is read as one state, and is
// added as a whole or not at all. Run streams and current leases are no part of it.
//
// An Archive is safe for concurrent use. The form of a row is the same for all stores: see
// docs/operations/moving.md.
type Archive interface {
	// Sections lists the sections of a kind, by their tenants and names.
	Sections(ctx context.Context, kind SectionKind) ([]Section, error)
	// ExportSection calls row with each row of a section: a line of JSON without its end, which is valid until
	// row returns. A section always has the same rows in the same order until something in it changes. If
	// there is no such section, row is not called. ExportSection returns a [spool.Conflict] error if a worker holds
	// the thread, and row's error unchanged.
	ExportSection(ctx context.Context, s Section, row func(line []byte) error) error
	// ImportSection adds the rows of a section. It returns false, and adds nothing, if the same section was
	// added in the last 30 days, whatever became of it since, or if the store has the same section anyway.
	// Rows of a [SectionRows] and jobs of a [SectionOutbox] whose key the store has are left out.
	//
	// ImportSection returns a [spool.Conflict] error if the store has another section of the kind, tenant and name,
	// or something in it collides, such as the id of a run. It returns an [spool.Invalid] error for rows that it
	// cannot read. In both cases nothing was added.
	ImportSection(ctx context.Context, s Section, lines [][]byte) (added bool, err error)
}

// SectionKind says what is in a section.
type SectionKind string

// The kinds of section.
const (
	// SectionRows has the rows of one kind and tenant outside threads, without those that have expired: see
	// [Row]. Its name is the kind.
	SectionRows SectionKind = "rows"
	// SectionThread has a thread and all that belongs to it, its jobs included. Its name is the thread's id.
	SectionThread SectionKind = "thread"
	// SectionOutbox has the jobs of a tenant, dead ones included, whose thread does not exist. Its name is
	// empty.
	SectionOutbox SectionKind = "outbox"
	// SectionAudit has up to 1,000 entries of a tenant's audit log. Its name is 0 for the seqs from 1 to 1,000,
	// and so on.
	SectionAudit SectionKind = "audit"
)

// SectionKinds lists the kinds, in the order in which a store should get them: a worker may continue a thread
// as soon as it is there.
func SectionKinds() []SectionKind {
	return []SectionKind{SectionRows, SectionAudit, SectionThread, SectionOutbox}
}

// Section names a section.
type Section struct {
	Kind   SectionKind  `json:"kind"`
	Tenant spool.Tenant `json:"tenant,omitempty"`
	Name   string       `json:"name,omitempty"`
}

// Thread returns the key of the thread of a [SectionThread], and for another kind the key of a transaction
// without a thread.
func (s Section) Thread() spool.ThreadKey {
	if s.Kind != SectionThread {
		return spool.ThreadKey{Tenant: s.Tenant}
	}
	return spool.ThreadKey{Tenant: s.Tenant, ID: spool.ThreadID(s.Name)}
}

// String returns the section for messages to operators.
func (s Section) String() string {
	text := string(s.Kind)
	if s.Name != "" {
		text += " " + s.Name
	}
	if s.Tenant == "" {
		return text + " of no tenant"
	}
	return text + " of the tenant " + string(s.Tenant)
}
