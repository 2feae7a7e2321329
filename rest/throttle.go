package rest

import (
	"context"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Throttle bounds how many requests are answered in a time. Package throttle has the usual
// ones.
type Throttle interface {
	// Take counts the request against its limit. It may read the request, the principal
	// and the client's address from ctx, and not the input. An error that is not an
	// [Error] is answered 503. It is safe for concurrent use.
	Take(ctx context.Context) (Verdict, error)
}

// QuietThrottle is a [Throttle] that can say that none of its verdicts names a policy, so that
// the document of the API has no RateLimit headers by it.
type QuietThrottle interface {
	Throttle
	// Quiet reports whether every [Verdict.Policy] is empty. It is the same at each call.
	Quiet() bool
}

// Verdict is what a [Throttle] says of a request.
type Verdict struct {
	// Skipped is true when the throttle is not about this request: a throttle of anonymous
	// callers, for example, asked about a known one. Nothing else counts then.
	Skipped bool
	// Allowed is false when the limit is used up.
	Allowed bool
	// Policy names the limit in the RateLimit headers. Empty: there are none.
	Policy string
	// Limit is how many requests the Window allows, and Remaining how many are left of them.
	// A Window is told in whole seconds.
	Limit, Remaining int
	Window           time.Duration
	// Reset is the time until all of the limit is available again.
	Reset time.Duration
	// RetryAfter is the time until a refused caller may try again.
	RetryAfter time.Duration
}

// take asks all of the throttles, so that each of them counts the request,
// and refuses with the longest wait when one of them does.
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

// The fields of draft-ietf-httpapi-ratelimit-headers, as net/http writes their names.
const (
	limitField  = "Ratelimit"
	policyField = "Ratelimit-Policy"
)

// announce tells the client how much is left.
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
