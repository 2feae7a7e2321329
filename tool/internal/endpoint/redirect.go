package endpoint

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
)

var (
	errOtherHost = errors.New("redirected to another host, which is not followed")
	// errOtherMethod is the error of a redirect that would turn the request into a GET.
	errOtherMethod = errors.New("which would repeat the call as a GET and is not followed; only 307 and 308 are")
	errCircle      = errors.New("redirected too often")
)

// sameRequest allows only redirects that keep the host, TLS and the method, so that no other host gets the
// arguments and the headers. After a POST, the statuses 301, 302 and 303 ask for a GET, which has no
// arguments and whose answer says nothing about the call.
func sameRequest(r *http.Request, via []*http.Request) error {
	const most = 5
	first := via[0]
	switch {
	case !strings.EqualFold(r.URL.Host, first.URL.Host), first.URL.Scheme == "https" && r.URL.Scheme != "https":
		return errOtherHost
	case r.Method != first.Method:
		return fmt.Errorf("redirected with status %d, %w", r.Response.StatusCode, errOtherMethod)
	case len(via) >= most:
		return fmt.Errorf("%w: %d times", errCircle, most)
	default:
		return nil
	}
}
