package rest

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Throttle limits how many requests are answered in a period of time. Package throttle has the
// usual throttles.
type Throttle interface {
	// Take counts the request against the limit. It may use the request, the principal and the
	// client's address from ctx, but not the input. An error that is not an [Error] is
	// answered 503. Take must be safe for concurrent use.
	Take(ctx context.Context) (Verdict, error)
}

// QuietThrottle is a [Throttle] that may never name a policy. If it does not, the document
// does not list RateLimit headers for it.
type QuietThrottle interface {
	Throttle
	// Quiet reports whether [Verdict.Policy] is always empty. It returns the same at each
	// call.
	Quiet() bool
}

// Verdict is the result of a [Throttle] for one request.
type Verdict struct {
	// Skipped is true if the throttle does not apply to this request: for example a throttle
	// for anonymous callers, if the caller is known. The other fields are then ignored.
	Skipped bool
	// Allowed is false if the limit is used up.
	Allowed bool
	// Policy names the limit in the RateLimit headers. If it is empty, they are not sent.
	Policy string
	// Limit is the number of requests that Window allows, and Remaining how many of them are
	// left. The header gives Window in whole seconds.
	Limit, Remaining int
	Window           time.Duration
	// Reset is the time until the whole limit is available again.
	Reset time.Duration
	// RetryAfter is the time after which a refused caller may try again.
	RetryAfter time.Duration
}

// take calls all throttles, so that each of them counts the request. If any refuses, the
// answer is 429 with the longest of their waiting times.
func (c *routeContext) take(ctx context.Context, throttles []Throttle) error {
	var (
		refused bool
		wait    time.Duration
	)
	header := c.response.Header()
	for _, t := range throttles {
		v, err := t.Take(ctx)
		if err != nil {
			if asError(err) != nil {
				return err
			}
			return &Error{
				Status: http.StatusServiceUnavailable, Code: "unavailable", Detail: "Try again later.",
				Header: http.Header{"Retry-After": {"1"}}, Err: err,
			}
		}
		if v.Skipped {
			continue
		}
		v.announce(header)
		if !v.Allowed {
			refused, wait = true, max(wait, v.RetryAfter)
		}
	}
	if !refused {
		return nil
	}
	seconds := int(math.Ceil(wait.Seconds()))
	return &Error{
		Status: http.StatusTooManyRequests, Code: "throttled", Detail: throttledDetail(seconds),
		Header: http.Header{"Retry-After": {strconv.Itoa(seconds)}},
	}
}

func throttledDetail(seconds int) string {
	switch seconds {
	case 0:
		return "Request was throttled."
	case 1:
		return "Request was throttled. Expected available in 1 second."
	default:
		return "Request was throttled. Expected available in " + strconv.Itoa(seconds) + " seconds."
	}
}

// The header names of draft-ietf-httpapi-ratelimit-headers, in the canonical form of net/http.
const (
	limitField  = "Ratelimit"
	policyField = "Ratelimit-Policy"
)

func (v Verdict) announce(h http.Header) {
	if v.Policy == "" {
		return
	}
	var room [128]byte
	name := strconv.AppendQuote(room[:0], v.Policy)
	if strings.IndexFunc(v.Policy, unprintable) >= 0 {
		name = strconv.AppendQuoteToASCII(room[:0], strings.Map(printable, v.Policy))
	}
	text := appendParameter(name, ";q=", v.Limit)
	text = appendParameter(text, ";w=", ceilSeconds(v.Window))
	policy := len(text)
	text = append(text, text[:len(name)]...)
	text = appendParameter(text, ";r=", max(0, v.Remaining))
	text = appendParameter(text, ";t=", ceilSeconds(v.Reset))
	both := string(text)
	values := &[2]string{both[:policy], both[policy:]}
	addField(h, policyField, values[:1:1])
	addField(h, limitField, values[1:])
}

func addField(h http.Header, name string, value []string) {
	if before := h[name]; len(before) > 0 {
		value = append(before, value...)
	}
	h[name] = value
}

func appendParameter(b []byte, name string, value int) []byte {
	return strconv.AppendInt(append(b, name...), int64(value), 10)
}

func ceilSeconds(d time.Duration) int { return int(math.Ceil(d.Seconds())) }

func unprintable(r rune) bool { return r < ' ' || r > '~' }

func printable(r rune) rune {
	if unprintable(r) {
		return '_'
	}
	return r
}
