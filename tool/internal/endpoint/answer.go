package endpoint

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

const (
	// minSecret is the minimum length of a text that counts as a secret.
	minSecret = 8
	redacted  = "[redacted]"
)

// secrets returns the texts that no result and no error may have, the longest first.
func (c Config) secrets() []string {
	all := slices.Concat(c.Secrets, c.SigningSecrets)
	for name, value := range c.Headers {
		if public(name) {
			continue
		}
		all = append(all, value)
		// After a scheme, such as Bearer.
		if _, credentials, ok := strings.Cut(value, " "); ok && !strings.Contains(credentials, " ") {
			all = append(all, credentials)
		}
	}
	for _, secret := range all { // as a URL and JSON have it; some servers escape slashes
		all = append(all, url.QueryEscape(secret), url.PathEscape(secret))
		if quoted, err := json.Marshal(secret); err == nil {
			inJSON := string(quoted[1 : len(quoted)-1])
			all = append(all, inJSON, strings.ReplaceAll(inJSON, "/", `\/`))
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// public reports whether a header never has a secret. Answers often repeat such a value.
func public(name string) bool {
	name = strings.ToLower(name)
	return slices.Contains([]string{"accept", "accept-language", "content-type", "user-agent"}, name) ||
		strings.HasSuffix(name, "version")
}

// clean removes the secrets from a text for the model.
func (e *Endpoint) clean(body []byte) []byte {
	for _, secret := range e.secrets {
		body = bytes.ReplaceAll(body, []byte(secret), []byte(redacted))
	}
	return body
}

// cause returns an error for the log, without secrets.
func (e *Endpoint) cause(err error) error {
	text := err.Error()
	if clean := string(e.clean([]byte(text))); clean != text {
		return errors.New(clean)
	}
	return err
}

// result returns JSON unchanged and any other text as a JSON string.
func result(body []byte) (json.RawMessage, error) {
	// some servers begin JSON with a byte order mark
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	switch {
	case len(body) == 0:
		return json.RawMessage("null"), nil
	case json.Valid(body):
		return body, nil
	default:
		return json.Marshal(string(body))
	}
}
