package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/spoolhq/spool"
)

// ErrGrant is in the error for a code or a refresh token that the authorization server does not take.
var ErrGrant = errors.New("the authorization server does not take the grant")

// maxAnswer bounds the answer to a request for a token, in bytes, and maxToken each token in it.
const (
	maxAnswer = 256 << 10
	maxToken  = 32 << 10
)

// Grant is what an authorization server gives for a code or a refresh token.
type Grant struct {
	Access string
	// Refresh is empty if the token cannot be refreshed.
	Refresh string
	// Until is shortly before the end of the token. A token that can be refreshed is used until then. Zero: it has
	// no end.
	Until time.Time
	// Ends is the end of the token, or zero.
	Ends time.Time
}

// SignIn is what a client keeps while a person signs in.
type SignIn struct {
	// State names the sign-in in the answer of the authorization server.
	State string
	// Redirect is where the authorization server sends the person.
	Redirect string
	// Verifier is the secret of PKCE.
	Verifier string
	// Resource is what the token is for. Begin sets it.
	Resource string
}

// Begin returns the address where a person signs in. It sets the Resource of s.
func (c *Client) Begin(ctx context.Context, s *SignIn) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	meta, err := c.codeServer(ctx)
	if err != nil {
		return "", explain(err)
	}
	if s.Resource, err = c.resource(ctx); err != nil {
		return "", explain(err)
	}
	link, err := url.Parse(meta.AuthorizationEndpoint)
	if err != nil {
		return "", explain(err)
	}
	q := link.Query()
	for name, value := range map[string]string{
		"response_type": "code", "client_id": c.config.ClientID, "redirect_uri": s.Redirect, "state": s.State,
		"resource": s.Resource, "code_challenge": oauth2.S256ChallengeFromVerifier(s.Verifier),
		"code_challenge_method": "S256",
	} {
		q.Set(name, value)
	}
	if len(c.config.Scopes) > 0 {
		q.Set("scope", strings.Join(c.config.Scopes, " "))
	}
	link.RawQuery = q.Encode()
	return link.String(), nil
}

// codeServer returns the metadata of an authorization server that keeps what Spool needs of it.
func (c *Client) codeServer(ctx context.Context) (*oauthex.AuthServerMeta, error) {
	meta, err := c.authorizationServer(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.config.checkURL(meta.AuthorizationEndpoint) != nil:
		return nil, spool.Errorf(spool.Unauthorized,
			"its authorization server has no authorization endpoint with an https URL")
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return nil, spool.Errorf(spool.Unauthorized, "its authorization server does not offer PKCE with S256")
	case c.config.Document && !meta.ClientIDMetadataDocumentSupported:
		return nil, spool.Errorf(spool.Unauthorized,
			"its authorization server takes no client id metadata documents; register a client there and configure its client id")
	default:
		return meta, nil
	}
}

// Redeem exchanges the code of a sign-in. Issuer is the parameter iss of the answer that had the code, and empty if it
// had none.
func (c *Client) Redeem(ctx context.Context, s SignIn, code, issuer string) (Grant, error) {
	return c.grant(ctx, func(meta *oauthex.AuthServerMeta) (url.Values, error) {
		if issuer == "" && meta.AuthorizationResponseIssParameterSupported || issuer != "" && issuer != meta.Issuer {
			return nil, spool.Errorf(spool.Unauthorized, "the answer to the sign-in comes from another authorization server")
		}
		return url.Values{
			"grant_type": {"authorization_code"}, "code": {code}, "redirect_uri": {s.Redirect}, "code_verifier": {s.Verifier},
			"resource": {s.Resource},
		}, nil
	})
}

// Refresh exchanges a refresh token. The grant has the same refresh token if there is no new one.
func (c *Client) Refresh(ctx context.Context, refresh, resource string) (Grant, error) {
	g, err := c.grant(ctx, func(*oauthex.AuthServerMeta) (url.Values, error) {
		return url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "resource": {resource}}, nil
	})
	if err == nil && g.Refresh == "" {
		g.Refresh = refresh
	}
	return g, err
}

// grant asks the authorization server for a token with a form.
func (c *Client) grant(ctx context.Context, form func(*oauthex.AuthServerMeta) (url.Values, error)) (Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	meta, err := c.codeServer(ctx)
	if err != nil {
		return Grant{}, explain(err)
	}
	values, err := form(meta)
	if err != nil {
		return Grant{}, explain(err)
	}
	g, err := c.post(ctx, meta, values)
	if refused, ok := errors.AsType[*oauth2.RetrieveError](err); ok && refused.ErrorCode == "invalid_grant" {
		return Grant{}, &spool.Error{
			Code: spool.Unauthorized, Message: "its authorization server no longer takes the sign-in", Err: ErrGrant,
		}
	}
	if err != nil {
		return Grant{}, explain(err)
	}
	return g, nil
}

// post sends a form to the token endpoint. A client with a secret proves itself.
func (c *Client) post(ctx context.Context, meta *oauthex.AuthServerMeta, form url.Values) (Grant, error) {
	basic := c.config.ClientSecret != "" && c.style(meta.TokenEndpointAuthMethodsSupported) == oauth2.AuthStyleInHeader
	if !basic {
		form.Set("client_id", c.config.ClientID)
		if c.config.ClientSecret != "" {
			form.Set("client_secret", c.config.ClientSecret)
		}
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, meta.TokenEndpoint, strings.NewReader(form.Encode()))
	if err != nil {
		return Grant{}, err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Accept", "application/json")
	if basic {
		r.SetBasicAuth(url.QueryEscape(c.config.ClientID), url.QueryEscape(c.config.ClientSecret))
	}
	began := time.Now()
	response, err := c.config.HTTP.Do(r)
	if err != nil {
		return Grant{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return Grant{}, err
	}
	return readGrant(response, body, began)
}

// readGrant reads the answer to a request for a token that was sent at a time.
func readGrant(response *http.Response, body []byte, began time.Time) (Grant, error) {
	var answer struct {
		Access    string      `json:"access_token"`  //nolint:tagliatelle // the names of RFC 6749
		Type      string      `json:"token_type"`    //nolint:tagliatelle // as above
		Refresh   string      `json:"refresh_token"` //nolint:tagliatelle // as above
		ExpiresIn json.Number `json:"expires_in"`    //nolint:tagliatelle // as above
		Error     string      `json:"error"`
	}
	err := json.Unmarshal(body, &answer)
	switch {
	case len(body) > maxAnswer:
		return Grant{}, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	case response.StatusCode != http.StatusOK || answer.Error != "":
		return Grant{}, &oauth2.RetrieveError{Response: response, ErrorCode: answer.Error}
	case err != nil:
		return Grant{}, errors.New("the answer is no JSON") // err has parts of it
	case answer.Access == "":
		return Grant{}, errors.New("the answer has no access token")
	case !strings.EqualFold(answer.Type, "Bearer"):
		return Grant{}, spool.Errorf(spool.Unauthorized, "its authorization server gives tokens that are no bearer tokens")
	case !isToken(answer.Access) || answer.Refresh != "" && !isToken(answer.Refresh):
		return Grant{}, spool.Errorf(spool.Unauthorized, "its authorization server gives tokens that no header can have")
	}
	g := Grant{Access: answer.Access, Refresh: answer.Refresh}
	if seconds, err := answer.ExpiresIn.Int64(); err == nil && seconds > 0 {
		const most = 10 * 365 * 24 * 3600
		const part = 10
		lifetime := time.Duration(min(seconds, most)) * time.Second
		g.Ends = began.Add(lifetime)
		g.Until = g.Ends.Add(-min(maxSkew, lifetime/part))
	}
	return g, nil
}

func isToken(text string) bool {
	return len(text) <= maxToken && !strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' })
}
