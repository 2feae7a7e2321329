// Package knownmodel knows facts about well-known models by their names: how long their context windows are, and how
// clouds and routers change the names.
package knownmodel

import (
	_ "embed"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
)

// windowsJSON is written by price/internal/update.
//
//go:embed windows.json
var windowsJSON []byte

// windows maps prefixes of names to context windows.
var windows = sync.OnceValue(func() map[string]int {
	var table map[string]int
	if err := json.Unmarshal(windowsJSON, &table); err != nil {
		panic("knownmodel: windows.json: " + err.Error())
	}
	return table
})

// Window returns the context window of a well-known model, or zero if it is unknown.
func Window(name string) int { return Longest(windows(), Plain(name)) }

// Longest returns the window of the longest prefix of a name that a table has, or zero.
func Longest(table map[string]int, name string) int {
	for end := len(name); end > 0; end-- {
		if window, ok := table[name[:end]]; ok {
			return window
		}
	}
	return 0
}

// edition matches what Bedrock adds to the name of a model.
var edition = regexp.MustCompile(`-v[0-9]+(:[0-9]+)?$`)

// Plain returns a model's name as its maker writes it. Clouds and routers add a region, a vendor, a folder or a
// version, as in "eu.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5" and
// "models/gemini-2.5-pro".
func Plain(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if at := strings.LastIndex(name, "claude-"); at >= 0 {
		name, _, _ = strings.Cut(edition.ReplaceAllString(name[at:], ""), ":")
		return strings.ReplaceAll(name, ".", "-")
	}
	return name[strings.LastIndexByte(name, '/')+1:]
}

// date matches the day at the end of a name.
var date = regexp.MustCompile(`-20[0-9]{2}(-[0-9]{2}-[0-9]{2}|[0-9]{4})$`)

// Undated returns a model's name without the day at its end, as in "gpt-4o-2024-11-20".
func Undated(name string) string { return date.ReplaceAllString(name, "") }

// Tier returns the service tier that the fields of a request ask for, or "" for the standard one. The first of the
// fields that has one wins.
func Tier(fields ...map[string]any) string {
	for _, f := range fields {
		for _, name := range []string{"service_tier", "serviceTier"} {
			if tier, ok := f[name].(string); ok {
				return strings.ToLower(tier)
			}
		}
	}
	return ""
}
