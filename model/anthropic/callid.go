package anthropic

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/spoolhq/spool"
)

// maxID bounds the length of a call's id in a request.
const maxID = 64

// callIDs gives the calls of a request ids that the provider takes: of letters, digits, "_" and "-", and each of
// them once. An id that is fine stays. The same calls get the same ids in later requests.
type callIDs struct {
	// current has the last call of each id.
	current map[spool.ToolCallID]string
	used    map[string]bool
}

// call returns the id of a call.
func (c *callIDs) call(id spool.ToolCallID) string {
	if c.current == nil {
		c.current, c.used = make(map[spool.ToolCallID]string), make(map[string]bool)
	}
	out := plainID(string(id))
	for n := 2; c.used[out]; n++ {
		out = plainID(plainID(string(id)) + "_" + strconv.Itoa(n))
	}
	c.used[out] = true
	c.current[id] = out
	return out
}

// result returns the id of the call that a result belongs to.
func (c *callIDs) result(id spool.ToolCallID) string {
	if out, ok := c.current[id]; ok {
		return out
	}
	return plainID(string(id))
}

// plainID returns an id of allowed characters. An id that changes gets a part of its hash, so that
// different ones stay different.
func plainID(id string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		default:
			return '_'
		}
	}, id)
	if plain == id && id != "" && len(id) <= maxID {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	hash := "_" + hex.EncodeToString(sum[:8])
	return plain[:min(len(plain), maxID-len(hash))] + hash
}
