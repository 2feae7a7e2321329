package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"github.com/spoolhq/spool"
)

// maxDocument bounds a document of metadata, in bytes.
const maxDocument = 256 << 10

// wellKnown is the path below which metadata is served.
const wellKnown = "/.well-known/"

// checkURL returns an error unless a text is a URL to which a secret may be sent.
func (c Config) checkURL(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("is no https URL")
	case u.Scheme == "http" && !isLoopback(u.Hostname()) &&
		!slices.ContainsFunc(c.Plain, func(host string) bool { return strings.EqualFold(host, u.Hostname()) }):
		return errors.New("has no TLS")
	default:
		return nil
	}
}

func isLoopback(host string) bool {
	return strings.EqualFold(host, "localhost") || net.ParseIP(host).IsLoopback()
}

// authorizationServer reads the metadata of the issuer.
func (c *Client) authorizationServer(ctx context.Context) (*oauthex.AuthServerMeta, error) {
	issuer, err := url.Parse(c.config.Issuer)
	if err != nil {
		return nil, err
	}
	path := strings.TrimSuffix(issuer.Path, "/")
	tried := []string{wellKnown + "oauth-authorization-server" + path, wellKnown + "openid-configuration" + path}
	if path != "" {
		tried = append(tried, path+wellKnown+"openid-configuration")
	}
	for _, at := range tried {
		var meta oauthex.AuthServerMeta
		switch found, err := c.document(ctx, origin(issuer)+at, &meta); {
		case err != nil:
			return nil, err
		case !found:
			continue
		case strings.TrimSuffix(meta.Issuer, "/") != strings.TrimSuffix(c.config.Issuer, "/"):
			return nil, spool.Errorf(spool.Unauthorized,
				"its authorization server calls itself by another issuer than the configured one")
		case c.config.checkURL(meta.TokenEndpoint) != nil:
			return nil, spool.Errorf(spool.Unauthorized, "its authorization server has no token endpoint with an https URL")
		default:
			return &meta, nil
		}
	}
	return nil, spool.Errorf(spool.Unavailable, "its authorization server has no metadata")
}

// resource returns what the token is for. A server that names its authorization servers has to name the issuer.
func (c *Client) resource(ctx context.Context) (string, error) {
	if c.config.Resource != "" {
		return c.config.Resource, nil
	}
	server, err := url.Parse(c.config.Server)
	if err != nil {
		return "", err
	}
	server.RawQuery, server.Fragment = "", ""
	tried := []string{
		wellKnown + "oauth-protected-resource" + strings.TrimSuffix(server.EscapedPath(), "/"),
		wellKnown + "oauth-protected-resource",
	}
	for _, at := range slices.Compact(tried) {
		var meta oauthex.ProtectedResourceMetadata
		switch found, err := c.document(ctx, origin(server)+at, &meta); {
		case err != nil:
			return "", err
		case !found:
			continue
		case !covers(meta.Resource, server):
			return "", spool.Errorf(spool.Unauthorized, "its metadata is about another resource than its URL")
		case len(meta.AuthorizationServers) > 0 && !slices.ContainsFunc(meta.AuthorizationServers, c.isIssuer):
			return "", spool.Errorf(spool.Unauthorized, "it does not name the configured issuer as its authorization server")
		default:
			return meta.Resource, nil
		}
	}
	return server.String(), nil
}

func (c *Client) isIssuer(text string) bool {
	return strings.TrimSuffix(text, "/") == strings.TrimSuffix(c.config.Issuer, "/")
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// covers reports whether a resource is the URL of the server, or a part of its path.
func covers(resource string, server *url.URL) bool {
	r, err := url.Parse(resource)
	if err != nil || r.Scheme != server.Scheme || !strings.EqualFold(r.Host, server.Host) || r.RawQuery != "" ||
		r.Fragment != "" || r.User != nil {
		return false
	}
	return strings.HasPrefix(strings.TrimSuffix(server.EscapedPath(), "/")+"/",
		strings.TrimSuffix(r.EscapedPath(), "/")+"/")
}

// document reads JSON at a URL. It returns false if there is none.
func (c *Client) document(ctx context.Context, link string, into any) (bool, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return false, err
	}
	request.Header.Set("Accept", "application/json")
	response, err := c.config.HTTP.Do(request)
	if err != nil {
		return false, err
	}
	defer response.Body.Close()
	switch status := response.StatusCode; {
	case status >= http.StatusBadRequest && status < http.StatusInternalServerError &&
		status != http.StatusTooManyRequests:
		return false, nil
	case status != http.StatusOK:
		return false, fmt.Errorf("metadata: status %d", status)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxDocument+1))
	switch {
	case err != nil:
		return false, err
	case len(text) > maxDocument:
		return false, fmt.Errorf("metadata: larger than %d bytes", maxDocument)
	case json.Unmarshal(text, into) != nil:
		return false, errors.New("metadata: no JSON")
	}
	return true, nil
}
