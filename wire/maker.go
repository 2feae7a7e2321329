package wire

import (
	"time"

	"github.com/spoolhq/spool"
)

// MakerKind says from where the right of a maker is known.
type MakerKind string

// The kinds of makers.
const (
	MakerFile      MakerKind = "file"      // The configuration has what was made, with its rights.
	MakerToken     MakerKind = "token"     // A token of the file of tokens.
	MakerPrincipal MakerKind = "principal" // Another principal, such as one of a JWT.
	// MakerSession is a principal whose right nobody can look up. It is that of the making, until [Maker.Until]. The
	// engine makes it of one of the other kinds, for delayed starts only.
	MakerSession MakerKind = "session"
)

// Maker is whoever has made what acts later: a schedule, which the last one to change it has made, a delayed start, or
// an endpoint of webhooks. What acts later ends with the right of its maker.
type Maker struct {
	Tenant  spool.Tenant `json:"tenant"`
	Subject string       `json:"subject,omitempty"`
	Kind    MakerKind    `json:"kind"`
	// Credentials is a hash of what the maker has shown. Empty: there is none.
	Credentials string `json:"credentials,omitempty"`
	// Until is when the right of the maker ends. Zero: it is not known.
	Until time.Time `json:"until,omitzero"`
	// Rights are what the maker might do when it made what acts later.
	Rights
}

// Rights are what runs may do that start by themselves.
type Rights struct {
	Scopes []string `json:"scopes,omitempty"`
	// OwnOnly is [Actor.OwnOnly], and MayNotStop [StartRequest.MayNotStop].
	OwnOnly    bool `json:"ownOnly,omitempty"`
	MayNotStop bool `json:"mayNotStop,omitempty"`
}
