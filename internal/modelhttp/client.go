package modelhttp

import "net/http"

// NewClient returns a copy of base, or a client over transport if base is nil. Without a transport, it gets a
// copy of [http.DefaultTransport] that keeps more idle connections to one host. The client treats a
// redirect as an error, because only the operator's own host may get the key and the conversation.
func NewClient(base *http.Client, transport http.RoundTripper) *http.Client {
	client := new(http.Client)
	if base != nil {
		*client = *base
	} else {
		client.Transport = transport
	}
	if client.Transport == nil {
		if t, ok := http.DefaultTransport.(*http.Transport); ok {
			t = t.Clone()
			t.MaxIdleConnsPerHost = t.MaxIdleConns // all requests go to one host
			client.Transport = t
		}
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return client
}
