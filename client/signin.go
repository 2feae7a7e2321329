package client

import (
	"context"
	"net/http"
	"time"
)

// SignIn is a sign-in to a server of tools that has begun.
type SignIn struct {
	// URL is the page of the authorization server to which the browser goes.
	URL string `json:"url"`
	// ExpiresAt is when the sign-in has to be done. After that, begin another one with the same link.
	ExpiresAt time.Time `json:"expiresAt"`
	// Cookie has to be in the browser before it opens URL: the server ends the sign-in only in a browser that brings
	// it along. An application that has another host than the server cannot set it, and sends the browser to the link
	// instead.
	Cookie *http.Cookie `json:"-"`
}

// BeginSignIn begins a sign-in for the subject of the client's token. The link is the url in the arguments of a call
// that waits for the sign-in. It returns a [spool.NotFound] error for a link of somebody else or one that is too old,
// and a [spool.Invalid] error for what is no such link.
func (c *Client) BeginSignIn(ctx context.Context, link string) (SignIn, error) {
	res, err := c.exchange(ctx, c.http, post("/api/agent/sign-in", map[string]string{"url": link}))
	if err != nil {
		return SignIn{}, err
	}
	defer closeBody(res)
	if res.StatusCode != http.StatusOK {
		return SignIn{}, failure(res, readRefusal(res))
	}
	s, err := decode[SignIn](ctx, res)
	if cookies := res.Cookies(); err == nil && len(cookies) == 1 {
		s.Cookie = cookies[0]
	}
	return s, err
}
