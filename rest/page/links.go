package page

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
)

// Links makes the addresses of other pages from that of a request: the same path and the
// same parameters in the same order, except credentials and the parameters that [Links.With] and
// [Links.Without] change. It is a value: changes make a new one.
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
	done        bool // while an address is written: its parameter stands there
}

// NewLinks makes links of the address of a request. Of u, only path and query are used.
//
// The base stands before the path. It comes from configuration and has passed [CheckBase];
// an empty one makes addresses that are relative to the host. The parameters named in
// credentials are left out, because addresses are logged, stored and passed on; the slice
// must not change afterwards.
func NewLinks(base string, u *url.URL, credentials []string) Links {
	return Links{
		base:        strings.TrimRight(base, "/"),
		path:        u.EscapedPath(),
		query:       u.RawQuery,
		credentials: credentials,
	}
}

// CheckBase returns an error when the base of links is none of: empty, an absolute address
// with http or https such as "https://api.example.com/v1", or a path such as "/v1". A path
// at its end is for programs that see paths from which something before them has cut it.
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

// With sets a query parameter: in its place when the request has it, else at the end. A
// parameter that the request has several times is there once.
func (l Links) With(name, value string) Links {
	return l.changed(change{name: name, value: value})
}

// Without leaves a query parameter out.
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

// String is the address. It holds no characters that an address may not hold, so it can
// stand in a header.
func (l Links) String() string {
	var b strings.Builder
	b.Grow(len(l.base) + len(l.path) + len(l.query) + 24)
	b.WriteString(l.base)

	path := l.path
	if l.base == "" || !strings.HasPrefix(path, "/") {
		// Two slashes at the start would name another host.
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

// keep writes one parameter of the request as it is in the address.
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

// queryWriter writes parameters with what stands between them.
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

// pages are the addresses of other pages, each with the relation that it has to this one.
// Empty: there is no such page, or it is not known.
type pages struct{ first, prev, next, last string }

// header is the value of a Link header, and empty when there are no addresses.
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

// orNull is an address in a body.
func orNull(address string) *string {
	if address == "" {
		return nil
	}

	return &address
}
