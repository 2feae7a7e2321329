package rest

import (
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/page"
)

// ReadsHeader documents a request header that the handler reads itself from [RequestOf], such
// as If-None-Match. It is documented as an optional text. A header that is a field of the
// input, with the tag header, is documented already.
func ReadsHeader(name, doc string) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.reads = append(c.reads, namedHeader{name: name, doc: doc})
	})
}

// SendsHeader documents a header that the handler sets itself with [ResponseOf], [Reply] or
// [Error], in answers with the statuses. Without statuses, it is documented for each answer
// below 400. A header that is a field of the answer, with the tag header, is documented
// already.
func SendsHeader(name, doc string, statuses ...int) RouteOption {
	return routeOption(func(c *routeConfig) {
		c.sends = append(c.sends, namedHeader{name, doc, statuses})
	})
}

func (rt *route) requestHeaders(params []*huma.Param) []*huma.Param {
	for _, h := range rt.entry.config.reads {
		if slices.ContainsFunc(params, func(p *huma.Param) bool {
			return p.In == "header" && strings.EqualFold(p.Name, h.name)
		}) {
			continue
		}
		params = append(params, &huma.Param{
			Name: h.name, In: "header", Description: h.doc, Schema: &huma.Schema{Type: huma.TypeString},
		})
	}
	return params
}

func (d *document) headers(rt *route, all map[string]*huma.Response) {
	if rt.body != nil {
		d.ownHeaders(rt, all[strconv.Itoa(rt.status)], rt.body)
	}
	for _, r := range rt.entry.config.returns {
		d.ownHeaders(rt, all[strconv.Itoa(r.status)], r.body)
	}
	for status, answer := range all {
		code, err := strconv.Atoi(status)
		if err != nil {
			continue
		}
		for _, h := range rt.entry.config.sends {
			if slices.Contains(h.statuses, code) || (len(h.statuses) == 0 && code < http.StatusBadRequest) {
				d.header(answer, h.name, headerOf(h.doc, huma.TypeString))
			}
		}
		if code == rt.status && rt.list != nil {
			if p, ok := rt.list.paginator.(page.HeaderDocumenter); ok {
				for _, h := range p.Headers() {
					d.header(answer, h.Name, headerOf(h.Doc, huma.TypeString))
				}
			}
		}
		d.stageHeaders(rt, code, answer)
	}
}

func (d *document) stageHeaders(rt *route, code int, answer *huma.Response) {
	throttled := len(rt.throttles)+len(rt.first) > 0
	switch {
	case code == http.StatusUnsupportedMediaType && rt.input.body != nil && !rt.input.body.upload:
		d.header(answer, "Accept", d.sharedHeader("Accept"))
	case code == http.StatusUnauthorized && slices.ContainsFunc(rt.auth, challenges):
		d.header(answer, "WWW-Authenticate", d.sharedHeader("WWW-Authenticate"))
	case code == http.StatusTooManyRequests, code == http.StatusServiceUnavailable && throttled:
		d.header(answer, "Retry-After", d.sharedHeader("Retry-After"))
	}
	// Other errors after the throttles have RateLimit headers too. Listing them there would
	// double the size of the document.
	limited := slices.ContainsFunc(slices.Concat(rt.first, rt.throttles), announces)
	if limited && (code < http.StatusBadRequest || code == http.StatusTooManyRequests) {
		for _, name := range []string{"RateLimit", "RateLimit-Policy"} {
			d.header(answer, name, d.sharedHeader(name))
		}
	}
	if rt.sunset == nil {
		return
	}
	d.header(answer, "Deprecation", headerOf("The time from which the operation is deprecated (RFC 9745).",
		huma.TypeString))
	if rt.sunset.end != "" {
		d.header(answer, "Sunset", headerOf("The time when the operation will be removed (RFC 8594).", huma.TypeString))
	}
}

func announces(t Throttle) bool {
	quiet, ok := t.(QuietThrottle)
	return !ok || !quiet.Quiet()
}

// challenges reports whether a 401 has a challenge of the authenticator.
func challenges(a Authenticator) bool { return a.Scheme().Challenge != "" }

// sharedHeaders are the headers that many answers have. The document defines each of them
// once.
var sharedHeaders = map[string]struct{ kind, doc string }{
	"Accept": {huma.TypeString, "The content type that is understood."},
	"RateLimit": {
		huma.TypeString,
		`What is left of each limit: its name, r for the requests left, t for the seconds until the whole limit is available again, as in "user";r=4;t=60.`,
	},
	"RateLimit-Policy": {
		huma.TypeString,
		`Each limit: its name, q for the allowed requests, w for the window in seconds, as in "user";q=5;w=60.`,
	},
	"Retry-After":      {huma.TypeInteger, "Seconds until the request may be tried again."},
	"WWW-Authenticate": {huma.TypeString, "How to authenticate."},
}

func (d *document) sharedHeader(name string) *huma.Param {
	if d.open.Components.Headers == nil {
		d.open.Components.Headers = map[string]*huma.Header{}
	}
	if h := sharedHeaders[name]; d.open.Components.Headers[name] == nil {
		d.open.Components.Headers[name] = headerOf(h.doc, h.kind)
	}
	return &huma.Param{Ref: "#/components/headers/" + name}
}

func (d *document) ownHeaders(rt *route, answer *huma.Response, t reflect.Type) {
	own := rt.headOf(t)
	if own == nil || answer == nil {
		return
	}
	for _, p := range own.headers {
		p = d.api.config.told(p)
		made := &huma.Param{Description: p.Doc, Required: p.Required, Schema: d.headerSchema(p)}
		made.Schema.Description = ""
		d.header(answer, p.Name, made)
	}
}

func (d *document) headerSchema(p bind.Param) *huma.Schema {
	base := p.Type
	if base.Kind() == reflect.Slice {
		base = base.Elem()
	}
	switch {
	case base == cookieType, base == reflect.PointerTo(cookieType):
		return &huma.Schema{Type: huma.TypeString}
	case base == timeOnly && p.Field.Tag.Get("format") == "":
		return &huma.Schema{Type: huma.TypeString, Examples: []any{"Tue, 15 Nov 1994 12:45:26 GMT"}}
	}
	s := *d.answers.Param(p)
	return &s
}

// header adds a header to an answer unless the answer has it already.
func (d *document) header(answer *huma.Response, name string, h *huma.Param) {
	for there := range answer.Headers {
		if strings.EqualFold(there, name) {
			return
		}
	}
	headers := maps.Clone(answer.Headers)
	if headers == nil {
		headers = map[string]*huma.Param{}
	}
	headers[name] = h
	answer.Headers = headers
}
