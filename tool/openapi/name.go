package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

const (
	// maxName is the maximum length of the names of tools and arguments, which providers have.
	maxName = 64
	// maxAbout bounds the description of a tool.
	maxAbout = 1000
)

// valid returns a name that has only letters, digits, "_", "-" and the further characters, and is not too
// long.
func valid(name, further string) string {
	name = strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' &&
			r <= '9', r == '_', r == '-', strings.ContainsRune(further, r):
			return r
		default:
			return '_'
		}
	}, name)
	if len(name) <= maxName {
		return name
	}
	const digits = 8
	sum := sha256.Sum256([]byte(name))
	return name[:maxName-digits-1] + "_" + hex.EncodeToString(sum[:])[:digits]
}

// nameOf returns the name of an operation's tool. An operation without an id is named by its method and path.
func nameOf(o operation, prefix string) string {
	if o.id != "" {
		return valid(prefix+o.id, "")
	}
	path := strings.Trim(strings.NewReplacer("{", "", "}", "", "/", "_").Replace(o.path), "_")
	return valid(prefix+strings.ToLower(o.method)+"_"+path, "")
}

// about returns the description of an operation for the model.
func about(o operation) string {
	parts := []string{strings.TrimSpace(text(o.node, "summary")), strings.TrimSpace(text(o.node, "description"))}
	if parts[0] == parts[1] {
		parts = parts[:1]
	}
	joined := strings.TrimSpace(strings.Join(parts, "\n\n"))
	if joined == "" {
		joined = o.key()
	}
	return cut(joined, maxAbout)
}
