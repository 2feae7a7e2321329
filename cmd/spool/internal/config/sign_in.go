package config

import (
	"encoding/base64"
	"net"
	"net/url"
	"strings"
)

// SignIn is the section sign_in: how people sign in to MCP servers.
type SignIn struct {
	Source

	// Keys encrypt the tokens of people. The first one encrypts, and all of them decrypt.
	Keys [][]byte
	// URL is where browsers reach the pages, without a slash at the end. Empty: it follows from the address of the
	// server.
	URL string
}

// signInKey is the size of a key, in bytes.
const signInKey = 32

func signInOptions(s *SignIn) table {
	return table{
		row("keys", required(filled(list(&s.Keys, value.signInKey))),
			"Keys that encrypt the tokens of people: base64 of 32 bytes, such as ${SPOOL_SIGN_IN_KEY}. The first "+
				"encrypts, all decrypt."),
		row("url", httpURL(&s.URL).then(func(v value) {
			if s.URL = strings.TrimRight(s.URL, "/"); s.URL != "" && !v.complained() && !SignInURL(s.URL) {
				v.problemf("must be an https URL without a query; http is for loopback hosts")
			}
		}),
			"Where browsers reach the pages of sign-ins. Default: /oauth below server.public_url and "+
				"server.base_path."),
	}
}

// signInKey returns a key that encrypts tokens.
func (v value) signInKey() []byte {
	key, err := base64.StdEncoding.DecodeString(v.word())
	if (err != nil || len(key) != signInKey) && !v.complained() {
		v.problemf("must be base64 of %d bytes, such as what openssl rand -base64 %d prints", signInKey, signInKey)
	}
	return key
}

// SignInURL reports whether browsers may sign in below a URL: their cookies and codes need https, except on their own
// machine.
func SignInURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		(u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()))
}
