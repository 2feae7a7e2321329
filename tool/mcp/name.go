package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
)

const maxName = 64

// marked matches a name that ends like one with a mark.
var marked = regexp.MustCompile(`_[0-9a-f]{10}$`)

// localName returns the name under which the model sees a tool of the server. It is the prefix and the tool's
// name, if that is a name that a model may use. Otherwise every other character becomes an underscore, the text
// is cut, and "_" and ten hex digits of the SHA-256 of the tool's name follow. A name that already ends like that
// gets such an end too, so that two names never become one unless their hashes begin alike.
func localName(prefix, name string) string {
	plain := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if plain == name && name != "" && len(prefix)+len(name) <= maxName && !marked.MatchString(name) {
		return prefix + name
	}
	sum := sha256.Sum256([]byte(name))
	mark := "_" + hex.EncodeToString(sum[:5])
	return prefix + plain[:min(len(plain), maxName-len(prefix)-len(mark))] + mark
}
