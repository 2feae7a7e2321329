package spool

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"fmt"
	"io"
	"time"
)

// Ids name things on the wire and in storage. Callers may choose thread, run and
// client message ids; [CheckID] says which strings are allowed.
type (
	// Tenant owns threads. Nothing that a tenant owns is visible to another.
	Tenant string
	// ThreadID names a thread within its tenant.
	ThreadID string
	// RunID names a run within its tenant.
	RunID string
	// MessageID names a message within its thread.
	MessageID string
	// AgentID names the author of a message: empty for the run's own agent, the run id of a nested run
	// otherwise.
	AgentID string
	// ToolCallID names a tool call within its run.
	ToolCallID string
)

// DefaultTenant is the tenant of an installation that has only one.
const DefaultTenant Tenant = "default"

// MaxIDLen is the length in bytes of the longest allowed id.
const MaxIDLen = 128

// ThreadKey names a thread across tenants. It is comparable.
type ThreadKey struct {
	Tenant Tenant
	ID     ThreadID
}

// String returns "tenant/id", for logs.
func (k ThreadKey) String() string { return string(k.Tenant) + "/" + string(k.ID) }

// CheckID returns an [Invalid] error that names field unless id matches
// [A-Za-z0-9._:-]{1,128}. The set leaves out white space, which would break
// cursors, and line breaks, which would break the id lines of an event stream.
func CheckID(field, id string) error {
	if id == "" {
		return Errorf(Invalid, "%s is required", field)
	}
	if len(id) > MaxIDLen {
		return Errorf(Invalid, "%s is longer than %d characters", field, MaxIDLen)
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '.', c == '_', c == ':', c == '-':
		default:
			return Errorf(Invalid, "%s may only have letters, digits and the characters . _ : -", field)
		}
	}
	return nil
}

var idEncoding = base32.NewEncoding("0123456789abcdefghjkmnpqrstvwxyz").WithPadding(base32.NoPadding)

// NewID returns a fresh id: the prefix, an underscore and 26 characters. The first ten characters are the
// time in milliseconds, so ids sort by age and are close together in an index. The other 80 bits are random.
func NewID(prefix string) string {
	var b [16]byte
	_, _ = rand.Read(b[6:])
	return newID(prefix, &b)
}

// NewIDFrom is [NewID] with the random bits of a reader, which must not fail.
func NewIDFrom(random io.Reader, prefix string) string {
	var b [16]byte
	_, _ = io.ReadFull(random, b[6:])
	return newID(prefix, &b)
}

// newID returns the id of the last ten bytes of b.
func newID(prefix string, b *[16]byte) string {
	now := uint64(time.Now().UnixMilli()) << 16
	binary.BigEndian.PutUint64(b[:8], now|uint64(b[6])<<8|uint64(b[7]))
	return fmt.Sprintf("%s_%s", prefix, idEncoding.EncodeToString(b[:]))
}
