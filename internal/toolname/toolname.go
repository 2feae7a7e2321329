// Package toolname translates between the names of tools in a record and those that providers take and send.
//
// A model can call a tool that does not exist, by any name, and a server can leave parts of the model's chat template
// in a name. The record keeps such a name. But a provider that refuses the name's form would refuse every later
// request of the thread.
package toolname

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"slices"
	"strings"
)

const (
	// maxLen is the length of the longest name that each provider takes.
	maxLen = 64
	// hashLen is the length of the hash at the end of a name that had to change.
	hashLen = 12
)

// Fit returns a form of the name that each provider accepts: 1 to 64 letters, digits, "_" and "-". The first
// character is a letter or "_". Only Gemini refuses a name that begins with a digit or "-". It returns a name that
// has this form unchanged. The same name always gets the same form, and other names get other forms.
func Fit(name string) string {
	head := strings.Map(allowed, name)
	if strings.IndexAny(head, "-0123456789") == 0 {
		head = "_" + head
	}
	if name != "" && len(name) <= maxLen && head == name {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return head[:min(len(head), maxLen-1-hashLen)] + "_" + hex.EncodeToString(sum[:hashLen/2])
}

// allowed returns the character that stands for one in a name.
func allowed(r rune) rune {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
		return r
	default:
		return '_'
	}
}

var (
	// marker is a special token of a chat template, also one that was cut off. DeepSeek writes its bars as U+FF5C.
	marker = regexp.MustCompile(`<[|｜][^<>]*(?:>|$)`)
	// numbered is the number of a call, which Kimi's template writes behind the name.
	numbered = regexp.MustCompile(`:[0-9]+$`)
)

// templateWords are the words that chat templates write beside a name: the role, the channel, the kind of the call and
// the form of its arguments.
var templateWords = []string{"analysis", "assistant", "code", "commentary", "final", "function", "json", "tool"}

// namespaces are the prefixes by which chat templates group the tools.
var namespaces = []string{"default_api.", "default_api:", "function.", "functions.", "tool.", "tools.", "function="}

// Known returns the tool that a name means: the tool of that name, the one whose [Fit] the name is, or the only one
// that is left without the parts of a chat template, such as in "echo<|channel|>commentary" and "functions.echo". It
// returns the name itself if that is no tool of the agent.
func Known(name string, tools []string) string {
	if tool, ok := find(name, tools); ok {
		return tool
	}
	if len(tools) == 0 {
		return name
	}
	beginning := name
	if at := marker.FindStringIndex(name); at != nil {
		beginning = name[:at[0]]
	}
	var left []string
	for field := range strings.FieldsSeq(marker.ReplaceAllString(name, " ")) {
		if to, ok := strings.CutPrefix(field, "to="); ok { // names the one whom the message is for
			left = []string{to}
			break
		}
		if !slices.Contains(templateWords, field) {
			left = append(left, field)
		}
	}
	if len(left) != 1 {
		left = []string{beginning}
	}
	if tool, ok := find(bare(left[0]), tools); ok {
		return tool
	}
	if tool, ok := find(bare(beginning), tools); ok {
		return tool
	}
	return name
}

// bare returns a name without what a template writes directly before and behind it.
func bare(name string) string {
	name = strings.Trim(name, " \t\r\n\"'`<>")
	name = strings.TrimSuffix(numbered.ReplaceAllString(name, ""), "()")
	for _, prefix := range namespaces {
		if remaining, ok := strings.CutPrefix(name, prefix); ok {
			return remaining
		}
	}
	return name
}

// find returns the tool that has the name, or whose form on the wire is the name.
func find(name string, tools []string) (string, bool) {
	if slices.Contains(tools, name) {
		return name, true
	}
	for _, tool := range tools {
		if Fit(tool) == name {
			return tool, true
		}
	}
	return "", false
}
