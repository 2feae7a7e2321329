package registry

import (
	"encoding/json"
	"net/url"
	"strings"

	"github.com/spoolhq/spool/engine/internal/toolresult"
	"github.com/spoolhq/spool/wire"
)

// secretNames are parts of the names of fields whose values are secrets, in lower case without separators.
var secretNames = []string{
	"apikey", "accesskey", "privatekey", "secret", "password", "passwd", "passphrase", "authorization", "credential",
	"cookie",
}

// isSecret reports whether a field of the name may be a secret. "max_tokens" is not one.
func isSecret(name string) bool {
	name = strings.NewReplacer("-", "", "_", "", ".", "").Replace(strings.ToLower(name))
	for _, part := range secretNames {
		if strings.Contains(name, part) {
			return true
		}
	}
	return strings.HasSuffix(name, "token")
}

// hide replaces the values of a decoded JSON text that may be secrets: those of fields with such names, and
// URLs with a user. It changes v.
func hide(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			if isSecret(name) {
				v[name] = wire.HiddenValue
			} else {
				v[name] = hide(value)
			}
		}
	case []any:
		for i := range v {
			v[i] = hide(v[i])
		}
	case string:
		if u, err := url.Parse(v); err == nil && u.User != nil {
			return wire.HiddenValue
		}
	}
	return v
}

// pinnedExtra returns the Extra of a revision, with the hidden values of the present one. A hidden value that
// the present one lacks is left out.
func pinnedExtra(stored json.RawMessage, present map[string]any) map[string]any {
	fields, ok := decode(stored).(map[string]any)
	if !ok {
		return nil
	}
	shown, _ := reveal(fields, decode(toolresult.JSON(present))).(map[string]any)
	return shown
}

// reveal replaces hidden values by the present ones. It changes v, and returns nil for a value to leave out.
func reveal(v, present any) any {
	switch v := v.(type) {
	case map[string]any:
		have, _ := present.(map[string]any)
		for name, value := range v {
			if now := reveal(value, have[name]); now == nil && value != nil {
				delete(v, name)
			} else {
				v[name] = now
			}
		}
	case []any:
		have, _ := present.([]any)
		for i := range v {
			var at any
			if i < len(have) {
				at = have[i]
			}
			v[i] = reveal(v[i], at)
		}
	case string:
		if v == wire.HiddenValue {
			return present
		}
	}
	return v
}
