package oauth

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/spoolhq/spool"
)

// refusals are the words of RFC 6749 and RFC 8707 that an error may repeat. Any other text of an authorization
// server may have a secret.
var refusals = []string{
	"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
	"invalid_target",
}

// explain returns an error without anything that an authorization server has written by itself.
func explain(err error) error {
	if known, ok := errors.AsType[*spool.Error](err); ok {
		return known
	}
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		status, word := refused.Response.StatusCode, "no known reason"
		if slices.Contains(refusals, refused.ErrorCode) {
			word = refused.ErrorCode
		}
		if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
			return spool.Errorf(spool.Unavailable, "its authorization server answered with status %d", status)
		}
		return spool.Errorf(spool.Unauthorized, "its authorization server refuses this client with status %d: %s", status,
			word)
	}
	return &spool.Error{
		Code: spool.Unavailable, Message: "its authorization server or its metadata cannot be reached",
		Err: fmt.Errorf("get an access token: %w", err),
	}
}

// MissingScope returns the scopes that a 403 asks for, or false if it has another reason.
func MissingScope(header http.Header) (string, bool) {
	const longest = 200
	challenges, err := oauthex.ParseWWWAuthenticate(header.Values("WWW-Authenticate"))
	if err != nil {
		return "", false
	}
	for _, c := range challenges {
		if c.Scheme != "bearer" || c.Params["error"] != "insufficient_scope" {
			continue
		}
		scopes := strings.Fields(c.Params["scope"])
		if scope := strings.Join(scopes, " "); len(scope) <= longest &&
			!slices.ContainsFunc(scopes, func(s string) bool { return !isScope(s) }) {
			return scope, true
		}
		return "", true
	}
	return "", false
}
