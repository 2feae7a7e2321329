package rest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Validators identify the current state of a resource. The zero Validators mean that the
// resource does not exist.
type Validators struct {
	// Tag is the entity tag as it is sent, with quotes: `"7"`, or `W/"7"` for a weak one. Empty
	// means that the resource has none.
	Tag string
	// Modified is the time of the last change. Zero means unknown.
	Modified time.Time
}

// CheckConditions compares the conditions of a request with the current state of its resource:
// If-Match, If-Unmodified-Since, If-None-Match and If-Modified-Since (RFC 9110, section 13).
// It returns an error for the handler to return: a 304 if the client of a GET has this state
// already, and a 412 if a condition is false. [Conditional] documents these answers.
//
//	if err := rest.CheckConditions(ctx, rest.Validators{Tag: book.Tag()}); err != nil {
//		return Book{}, err
//	}
//
// For GET and HEAD it also sets the headers ETag and Last-Modified of the answer. A write needs
// the check and the change in one transaction, so that no other request comes between them.
func CheckConditions(ctx context.Context, now Validators) error {
	c := contextOf(ctx)
	if c == nil {
		return errNoRoute
	}
	if _, left, ok := cutTag(now.Tag); now.Tag != "" && (!ok || left != "") {
		return fmt.Errorf("%q is not an entity tag: it has to be in quotes", now.Tag)
	}
	reads := c.request.Method == http.MethodGet || c.request.Method == http.MethodHead
	if reads {
		now.announce(c.response.Header())
	}
	asked := c.request.Header
	if !now.meets(asked) {
		return now.failed("The resource has changed since: read it again.")
	}
	switch same, ok := now.among(asked["If-None-Match"], true); {
	case reads && same, reads && len(asked["If-None-Match"]) == 0 && now.unmodified(asked["If-Modified-Since"]):
		return &Error{Status: http.StatusNotModified}
	case !reads && (same || !ok):
		return now.failed("The resource is there already.")
	}
	return nil
}

// meets checks the conditions that protect against lost changes. If-Unmodified-Since counts
// only without an If-Match.
func (v Validators) meets(asked http.Header) bool {
	if tags := asked["If-Match"]; len(tags) > 0 {
		same, _ := v.among(tags, false)
		return same
	}
	since := asked["If-Unmodified-Since"]
	return len(since) == 0 || v.Modified.IsZero() || !validTime(since) || v.unmodified(since)
}

func validTime(lines []string) bool {
	_, err := http.ParseTime(lines[0])
	return err == nil && len(lines) == 1
}

// unmodified reports whether the resource has not changed after the time of a header, which
// has whole seconds. An invalid time is ignored, as RFC 9110 says.
func (v Validators) unmodified(lines []string) bool {
	if len(lines) == 0 || v.Modified.IsZero() || !validTime(lines) {
		return false
	}
	since, _ := http.ParseTime(lines[0])
	return !v.Modified.Truncate(time.Second).After(since)
}

// among reports whether a list of entity tags has the tag, or is "*" and the resource exists.
// Weak tags are equal only for caches. ok is false for a list that cannot be read.
func (v Validators) among(lines []string, weak bool) (same, ok bool) {
	text := strings.Trim(strings.Join(lines, ","), " \t,")
	if text == "*" {
		return v != Validators{}, true
	}
	for text != "" {
		var tag string
		if tag, text, ok = cutTag(text); !ok {
			return same, false
		}
		own := v.Tag
		if weak {
			tag, own = strings.TrimPrefix(tag, "W/"), strings.TrimPrefix(own, "W/")
		}
		same = same || tag == own && !strings.HasPrefix(tag, "W/")
		text = strings.TrimLeft(text, " \t,")
	}
	return same, true
}

// cutTag cuts the first entity tag off a list. A tag may have commas.
func cutTag(text string) (tag, left string, ok bool) {
	opaque := strings.TrimPrefix(text, "W/")
	if !strings.HasPrefix(opaque, `"`) {
		return "", text, false
	}
	end := strings.IndexByte(opaque[1:], '"')
	if end < 0 {
		return "", text, false
	}
	at := len(text) - len(opaque) + end + 2
	return text[:at], text[at:], true
}

func (v Validators) announce(h http.Header) {
	if v.Tag != "" {
		h.Set("ETag", v.Tag)
	}
	if !v.Modified.IsZero() {
		h.Set("Last-Modified", v.Modified.UTC().Format(http.TimeFormat))
	}
}

func (v Validators) failed(detail string) error {
	e := &Error{Status: http.StatusPreconditionFailed, Detail: detail, Header: http.Header{}}
	v.announce(e.Header)
	return e
}

// Conditional documents a route whose handler calls [CheckConditions]: the headers of its
// requests and answers, and the 304 or the 412.
func Conditional() RouteOption {
	return routeOption(func(c *routeConfig) { c.conditional = true })
}

// onlyReads reports whether all methods are those of a request that changes nothing.
func onlyReads(methods []string) bool {
	return !slices.ContainsFunc(methods, func(m string) bool { return m != http.MethodGet && m != http.MethodHead })
}

// describeConditions adds what [Conditional] documents.
func (c *routeConfig) describeConditions(methods []string) {
	if !c.conditional {
		return
	}
	if onlyReads(methods) {
		c.reads = append(c.reads,
			namedHeader{
				name: "If-None-Match", doc: "The ETags that the client has. The answer is 304 if one of them is current.",
			},
			namedHeader{
				name: "If-Modified-Since",
				doc:  "The Last-Modified that the client has. The answer is 304 if nothing has changed since.",
			})
		c.sends = append(c.sends, namedHeader{name: "ETag", doc: "The version of the resource."},
			namedHeader{name: "Last-Modified", doc: "The time of the last change."})
		return
	}
	c.reads = append(c.reads,
		namedHeader{name: "If-Match", doc: "The ETags of versions to change. The answer is 412 if another one is current."},
		namedHeader{name: "If-Unmodified-Since", doc: "The answer is 412 if the resource has changed since."},
		namedHeader{name: "If-None-Match", doc: "With *, the answer is 412 if the resource exists."})
	c.fails = append(c.fails, http.StatusPreconditionFailed)
	c.sends = append(c.sends, namedHeader{
		"ETag", "The current version of the resource.", []int{http.StatusPreconditionFailed},
	})
}
