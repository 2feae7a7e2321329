package config

import (
	"regexp"
	"strings"
)

// reference matches "${NAME}", "${NAME:-default}", and "$${" for a literal "${".
var reference = regexp.MustCompile(`\$?\$\{([^}]*)\}?`)

var variable = regexp.MustCompile(`^([A-Za-z_][A-Za-z0-9_]*)(:-(.*))?$`)

func expands(text string) bool { return strings.Contains(text, "${") }

// expand replaces references by values of the environment. It returns false if a variable is not set.
func (v value) expand(text string) (string, bool) {
	ok := true
	out := reference.ReplaceAllStringFunc(text, func(ref string) string {
		if strings.HasPrefix(ref, "$$") {
			return ref[1:]
		}
		inner := variable.FindStringSubmatch(strings.TrimSuffix(strings.TrimPrefix(ref, "${"), "}"))
		if inner == nil || !strings.HasSuffix(ref, "}") {
			v.problemf(`"${" must be followed by the name of a variable and "}"; write "$${" for the characters themselves`)
			ok = false
			return ""
		}
		set, found := v.d.lookup(inner[1])
		switch {
		case inner[2] != "" && set == "":
			return inner[3]
		case !found:
			v.problemf("the environment variable %s is not set; ${%s:-} allows that", inner[1], inner[1])
			ok = false
		}
		v.d.used = append(v.d.used, set)
		return set
	})
	return out, ok
}
