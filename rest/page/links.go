package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Links builds the addresses of other pages from the address of a request. It keeps the path
// and the query parameters in their order, except credentials and the parameters that
// [Links.With] and [Links.Without] change. Links is immutable: each change returns a new
// value.
type Links struct {
	base        string
	path        string
	query       string
	credentials []string
	changes     []change
}

type change struct {
	name, value string
	drop        bool
	done        bool // used by String: the parameter is written
}

// NewLinks returns links for the address of a request. Only the path and the query of u are
// used.
//
// The base is put before the path. It comes from the configuration and has passed [CheckBase];
// if it is empty, addresses are relative to the host. The parameters named in credentials are
// left out, because addresses are logged, stored and passed on. The slice must not change
// afterwards.
func NewLinks(base string, u *url.URL, credentials []string) Links {
	return Links{
		base:        strings.TrimRight(base, "/"),
		path:        u.EscapedPath(),
		query:       u.RawQuery,
		credentials: credentials,
	}
}

// CheckBase returns an error unless the base of links is empty, an absolute http or https
// address such as "https://api.example.com/v1", or a path such as "/v1". A path in the base is
// for programs behind a proxy that removes it from requests.
func CheckBase(base string) error {
	if base == "" {
		return nil
	}

	u, err := url.Parse(base)
	switch {
	case err != nil:
		return fmt.Errorf("parse the base of links: %w", err)
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(base, "#"):
		return fmt.Errorf("base of links %q: it may have no query and no fragment", base)
	case u.User != nil:
		return fmt.Errorf("base of links %q: it may have no credentials", u.Redacted())
	case u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		return nil
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return nil
	default:
		return fmt.Errorf("base of links %q: it is neither an http address nor a path", base)
	}
}

// With sets a query parameter: at its place if the request has it, otherwise at the end. If
// the request has it several times, it is written once.
func (l Links) With(name, value string) Links {
	return l.changed(change{name: name, value: value})
}

// Without removes a query parameter.
func (l Links) Without(name string) Links {
	return l.changed(change{name: name, drop: true})
}

func (l Links) changed(c change) Links {
	changes := slices.Clone(l.changes)
	changes = slices.DeleteFunc(changes, func(old change) bool { return old.name == c.name })
	changes = append(changes, c)
	l.changes = changes

	return l
}

// String returns the address. It has only characters that are valid in an address, so it can
// be put in a header.
func (l Links) String() string {
	var b strings.Builder
	b.Grow(len(l.base) + len(l.path) + len(l.query) + 24)
	b.WriteString(l.base)

	path := l.path
	if l.base == "" || !strings.HasPrefix(path, "/") {
		// Two slashes at the start would be read as another host.
		b.WriteByte('/')
		path = strings.TrimLeft(path, "/")
	}
	b.WriteString(path)

	w := queryWriter{b: &b, mark: '?'}
	changes := slices.Clone(l.changes)

	for part := range strings.SplitSeq(l.query, "&") {
		if part != "" {
			l.keep(&w, part, changes)
		}
	}
	for _, c := range changes {
		if !c.drop && !c.done {
			w.write(c.name, c.value, true)
		}
	}

	return b.String()
}

// keep writes one parameter of the request, unless it is a credential, is changed or is
// malformed.
func (l Links) keep(w *queryWriter, part string, changes []change) {
	rawName, rawValue, valued := strings.Cut(part, "=")
	name, err := url.QueryUnescape(rawName)
	if err != nil || slices.Contains(l.credentials, name) {
		return
	}

	if i := slices.IndexFunc(changes, func(c change) bool { return c.name == name }); i >= 0 {
		if c := &changes[i]; !c.drop && !c.done {
			c.done = true
			w.write(c.name, c.value, true)
		}
		return
	}

	value, err := url.QueryUnescape(rawValue)
	if err != nil {
		return
	}
	w.write(name, value, valued)
}

// queryWriter writes query parameters with "?" and "&" between them.
type queryWriter struct {
	b    *strings.Builder
	mark byte
}

func (w *queryWriter) write(name, value string, valued bool) {
	w.b.WriteByte(w.mark)
	w.mark = '&'
	w.b.WriteString(url.QueryEscape(name))
	if valued {
		w.b.WriteByte('=')
		w.b.WriteString(url.QueryEscape(value))
	}
}

// pages holds the addresses of other pages by their relation to this one. An address is empty
// if there is no such page or it is not known.
type pages struct{ first, prev, next, last string }

// header returns the value of the Link header, empty if there are no addresses.
func (p pages) header() string {
	var b strings.Builder
	for _, link := range [...]struct{ rel, address string }{
		{"first", p.first}, {"prev", p.prev}, {"next", p.next}, {"last", p.last},
	} {
		if link.address == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(", ")
		}
		b.WriteByte('<')
		b.WriteString(link.address)
		b.WriteString(`>; rel="`)
		b.WriteString(link.rel)
		b.WriteByte('"')
	}

	return b.String()
}

// orNull returns the address for a body: nil if it is empty.
func orNull(address string) *string {
	if address == "" {
		return nil
	}

	return &address
}
