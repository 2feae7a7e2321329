// Package callid gives the tool calls of a request ids that the request's provider takes.
//
// A thread may have calls of several providers, and the engine changes the ids that a provider gives: in nested runs,
// in long threads, and where a provider counts from zero in each answer. A provider may refuse ids of another form,
// and may have signed its own ids together with the rest of an answer. So an adapter keeps the id that its provider
// gave with the call, and IDs chooses what the provider gets back.
package callid

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// hashLen is the length of the hash at the end of an id that had to change.
const hashLen = 16

// IDs has the ids of the calls of one request, which is built from its first message to its last. The same messages
// get the same ids in later requests. The zero value is not ready: Max is required.
type IDs struct {
	// Max is the length of the longest id that the provider takes, at least 24.
	Max int
	// Exact is the length of every id. An id of such a provider has only letters and digits. Zero: ids may have any
	// length up to Max, and "_" and "-" too.
	Exact int

	// current has the last call of each id.
	current map[spool.ToolCallID]string
	used    map[string]bool
}

// Call returns the id of a call, which no other call of the request has. It is given, the id by which the provider
// named the call, if that is not empty. Otherwise it is the id of the part if that has the form of all providers:
// letters, digits, "_" and "-", and at most Max of them. Any other id is made from the part's.
func (c *IDs) Call(id spool.ToolCallID, providerID string) string {
	if c.current == nil {
		c.current, c.used = make(map[spool.ToolCallID]string), make(map[string]bool)
	}
	out := providerID
	if out == "" || c.used[out] {
		out = c.plain(string(id))
	}
	for n := 2; c.used[out]; n++ {
		out = c.plain(c.plain(string(id)) + "_" + strconv.Itoa(n))
	}
	c.used[out] = true
	c.current[id] = out
	return out
}

// Result returns the id of the call that a result belongs to.
func (c *IDs) Result(id spool.ToolCallID) string {
	if out, ok := c.current[id]; ok {
		return out
	}
	return c.plain(string(id))
}

// plain returns the id itself if the provider takes it.
func (c *IDs) plain(id string) string {
	most := c.Max
	if c.Exact > 0 {
		if len(id) == c.Exact && strings.Map(alphanumeric, id) == id {
			return id
		}
		sum := sha256.Sum256([]byte(id))
		return hex.EncodeToString(sum[:])[:c.Exact]
	}
	if id != "" && len(id) <= most && strings.Map(allowed, id) == id {
		return id
	}
	return hashed(id, most)
}

// hashed returns an id with the beginning of a text and the text's hash, so that different texts stay different.
func hashed(text string, most int) string {
	sum := sha256.Sum256([]byte(text))
	hash := "_" + hex.EncodeToString(sum[:hashLen/2])
	head := strings.Map(allowed, text)
	return head[:min(len(head), most-len(hash))] + hash
}

// alphanumeric returns a letter or a digit, and drops any other character.
func alphanumeric(r rune) rune {
	if allowed(r) != r || r == '_' || r == '-' {
		return -1
	}
	return r
}

// allowed returns the character that stands for one in an id.
func allowed(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	default:
		return '_'
	}
}
