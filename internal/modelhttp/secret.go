package modelhttp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	// minSecret is the minimum length of a secret. Local servers have short keys like "ollama", and
	// errors must stay readable.
	minSecret = 8
	// maxText bounds a text that Clean returns.
	maxText = 1000

	redacted = "[redacted]"
)

// secretNames are words that mark a field as secret if its lower-case name contains one: "key" is in
// "api_key" and in "apiKey".
var secretNames = []string{
	"key", "token", "secret", "password", "passwd", "passphrase", "credential", "auth", "bearer", "cookie",
}

// Secrets are texts that errors must not show. The zero value has none.
type Secrets struct {
	// texts are sorted by length, the longest first.
	texts []string
}

// NewSecrets returns the secrets of an adapter's configuration: the given texts, the values of all headers,
// the query of the base URL, and the fields of extra whose names contain "key", "token" or a similar
// word. Texts of less than 8 characters are no secrets. Base may be nil.
func NewSecrets(texts []string, headers map[string]string, base *url.URL, extra map[string]any) Secrets {
	all := slices.Clone(texts)
	for _, value := range headers {
		all = append(all, value)
		// after a scheme, such as Bearer
		if _, credentials, _ := strings.Cut(value, " "); !strings.Contains(credentials, " ") {
			all = append(all, credentials)
		}
	}
	if base != nil {
		for _, values := range base.Query() {
			all = append(all, values...)
		}
	}
	return Secrets{redactable(append(all, bodySecrets(extra)...))}
}

// With returns s and the secret fields of extra.
func (s Secrets) With(extra map[string]any) Secrets {
	found := bodySecrets(extra)
	if len(found) == 0 {
		return s
	}
	return Secrets{redactable(slices.Concat(s.texts, found))}
}

// Clean returns a provider's text without secrets, cut to 1,000 bytes.
func (s Secrets) Clean(text string) string {
	for _, secret := range s.texts {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\ufffd"))
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "..."
	}
	return text
}

// Asked adds the URL of a request to the message of a 404: a wrong base URL has no other symptom. The URL is without
// its query, and without secrets.
func (s Secrets) Asked(message string, response *http.Response) string {
	if response.StatusCode != http.StatusNotFound || response.Request == nil {
		return message
	}
	u := *response.Request.URL
	u.User, u.RawQuery = nil, ""
	return message + " (" + response.Request.Method + " " + s.Clean(u.String()) + ")"
}

// bodySecrets returns the texts and numbers in the request fields that have secret names.
func bodySecrets(extra map[string]any) []string {
	if len(extra) == 0 {
		return nil
	}
	text, err := json.Marshal(extra)
	if err != nil {
		return nil // such a body cannot be sent at all
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var plain any
	if d.Decode(&plain) != nil {
		return nil
	}
	return secretsIn(plain, false)
}

// secretsIn returns the secrets in a JSON value. In a secret value, all texts and numbers are secrets.
func secretsIn(value any, secret bool) []string {
	var found []string
	switch value := value.(type) {
	case map[string]any:
		for name, v := range value {
			name = strings.ToLower(name)
			named := slices.ContainsFunc(secretNames, func(word string) bool { return strings.Contains(name, word) })
			found = append(found, secretsIn(v, secret || named)...)
		}
	case []any:
		for _, v := range value {
			found = append(found, secretsIn(v, secret)...)
		}
	case string:
		if secret {
			found = append(found, value)
		}
	case json.Number:
		if secret {
			found = append(found, value.String())
		}
	}
	return found
}

// redactable removes short secrets, adds the JSON form of each secret, and sorts the secrets by length,
// the longest first. Otherwise, redacting a secret that is part of another one would leave the rest of
// the other one in the text.
func redactable(all []string) []string {
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
	for _, s := range slices.Clone(all) {
		if quoted, err := json.Marshal(s); err == nil && string(quoted[1:len(quoted)-1]) != s {
			all = append(all, string(quoted[1:len(quoted)-1]))
		}
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}
