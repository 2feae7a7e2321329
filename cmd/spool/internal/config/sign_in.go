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

func signIn(v value) SignIn {
	f := v.fields("keys", "url")
	s := SignIn{Source: v.source()}
	if !v.present() {
		return s
	}
	for i, text := range f["keys"].words() {
		key, err := base64.StdEncoding.DecodeString(text)
		if item := f["keys"].items()[i]; (err != nil || len(key) != signInKey) && !item.complained() {
			item.problemf("must be base64 of %d bytes, such as what openssl rand -base64 %d prints", signInKey, signInKey)
		}
		s.Keys = append(s.Keys, key)
	}
	at := f["url"]
	if s.URL = strings.TrimRight(at.url(), "/"); s.URL != "" && !at.complained() && !SignInURL(s.URL) {
		at.problemf("must be an https URL without a query; http is for loopback hosts")
	}
	return s
}

// SignInURL reports whether browsers may sign in below a URL: their cookies and codes need https, except on their own
// machine.
func SignInURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && u.RawQuery == "" && u.Fragment == "" &&
		(u.Scheme == "https" || u.Scheme == "http" && (u.Hostname() == "localhost" || net.ParseIP(u.Hostname()).IsLoopback()))
}
