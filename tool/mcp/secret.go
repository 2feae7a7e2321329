package mcp

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

// secrets returns the texts that no model, person or log may see, the longest first: the values of the headers,
// of the variables of the child process and of the query of the URL, and the secret of Auth, also as JSON and URLs
// have them.
func (c Config) secrets() []string {
	var all []string
	for _, value := range c.Headers {
		all = append(all, value)
		// After a scheme, such as Bearer.
		if _, credentials, ok := strings.Cut(value, " "); ok && !strings.Contains(credentials, " ") {
			all = append(all, credentials)
		}
	}
	for _, value := range c.Env {
		all = append(all, value)
	}
	if target, err := url.Parse(c.URL); err == nil {
		for _, values := range target.Query() {
			all = append(all, values...)
		}
	}
	if c.Auth != nil {
		all = append(all, c.Auth.ClientSecret)
	}
	return variants(all)
}

// variants returns secrets as they are and as JSON and URLs have them, the longest first.
func variants(all []string) []string {
	for _, secret := range all {
		all = append(all, url.QueryEscape(secret), url.PathEscape(secret))
		if quoted, err := json.Marshal(secret); err == nil {
			all = append(all, string(quoted[1:len(quoted)-1]))
		}
	}
	all = slices.DeleteFunc(all, func(s string) bool { return len(s) < minSecret })
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

// hidden returns the texts that clean removes: the secrets, and the access tokens of late.
func (s *Server) hidden() []string {
	if s.tokens == nil {
		return s.secrets
	}
	return append(variants(s.tokens.Seen()), s.secrets...)
}

// clean removes the secrets from a text of the server.
func (s *Server) clean(text string) string {
	for _, secret := range s.hidden() {
		text = strings.ReplaceAll(text, secret, redacted)
	}
	return text
}

// cleanBytes does the same as clean for JSON.
func (s *Server) cleanBytes(text []byte) []byte {
	for _, secret := range s.hidden() {
		text = bytes.ReplaceAll(text, []byte(secret), []byte(redacted))
	}
	return text
}

// cause returns an error for the log, without the secrets and without the path of the URL, which may be a key
// too.
func (s *Server) cause(err error) error {
	text := err.Error()
	clean := text
	if target, parsed := url.Parse(s.config.URL); parsed == nil && s.config.URL != "" {
		for _, link := range []string{s.config.URL, target.String(), target.Redacted()} {
			clean = strings.ReplaceAll(clean, link, target.Scheme+"://"+target.Host)
		}
	}
	if clean = s.clean(clean); clean != text {
		return errors.New(clean)
	}
	return err
}
