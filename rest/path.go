package rest

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// segment is a part of a path between two slashes.
type segment struct {
	literal string // empty for a parameter
	escaped string // the literal, percent-escaped
	name    string
	kind    converter
}

// converter is the word before the colon in {int:id}. A path whose segment the converter does
// not accept does not match the route.
type converter string

const (
	anyText  converter = "" // any one segment; the type of the input field checks it
	intKind  converter = "int"
	strKind  converter = "str"
	slugKind converter = "slug"
	uuidKind converter = "uuid"
	restKind converter = "path" // the rest of the path, with its slashes
)

// matches reports whether the converter accepts a segment of a request.
func (c converter) matches(text string) bool {
	switch c {
	case intKind:
		text = strings.TrimPrefix(text, "-")
		return text != "" && len(text) <= 19 && !strings.ContainsFunc(text, notDigit)
	case slugKind:
		return text != "" && strings.IndexFunc(text, notSlug) < 0
	case uuidKind:
		return isUUID(text)
	case anyText, strKind:
		return text != ""
	default:
		return true
	}
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

func notSlug(r rune) bool {
	return r > unicode.MaxASCII || (!unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_')
}

func isUUID(s string) bool {
	return len(s) == 36 && s[8] == '-' && s[13] == '-' && s[18] == '-' && s[23] == '-' &&
		strings.Count(s, "-") == 4 && strings.Trim(s, "-0123456789abcdefABCDEF") == ""
}

// pathPattern is a compiled path of a route.
type pathPattern struct {
	segments []segment
	slash    bool // it ends with a slash
	typed    bool // some converter rejects some texts
}

// parsePath compiles a prefix and a path. If there is a prefix, the path "/" means the prefix
// itself.
func parsePath(prefix, path string) (pathPattern, error) {
	whole := strings.TrimSuffix(prefix, "/")
	if path != "/" || whole == "" {
		whole += "/" + strings.TrimPrefix(path, "/")
	}
	if path == "" {
		whole = strings.TrimSuffix(whole, "/")
	}
	for strings.Contains(whole, "//") {
		whole = strings.ReplaceAll(whole, "//", "/")
	}
	p := pathPattern{slash: strings.HasSuffix(whole, "/")}
	for part := range strings.SplitSeq(strings.Trim(whole, "/"), "/") {
		if part == "" {
			continue
		}
		s, err := parseSegment(part)
		if err != nil {
			return pathPattern{}, fmt.Errorf("path %q: %w", whole, err)
		}
		if last := len(p.segments) - 1; last >= 0 && p.segments[last].kind == restKind {
			return pathPattern{}, fmt.Errorf("path %q: nothing may follow {path:%s}", whole, p.segments[last].name)
		}
		if s.name != "" && slices.ContainsFunc(p.segments, func(o segment) bool { return o.name == s.name }) {
			return pathPattern{}, fmt.Errorf("path %q: the parameter %q appears twice", whole, s.name)
		}
		p.typed = p.typed || (s.kind != anyText && s.kind != strKind && s.kind != restKind)
		p.segments = append(p.segments, s)
	}
	return p, nil
}

// covers reports whether the segment matches everything that the other one does.
func (s segment) covers(other segment) bool {
	if s.name == "" || other.name == "" {
		return s.literal == other.literal && s.name == other.name
	}
	return s.kind == other.kind || (other.kind != restKind && (s.kind == anyText || s.kind == strKind))
}

func parseSegment(part string) (segment, error) {
	if !strings.ContainsAny(part, "{}") {
		if err := checkLiteral(part); err != nil {
			return segment{}, fmt.Errorf("segment %q: %w", part, err)
		}
		return segment{literal: part, escaped: escapedLiteral(part)}, nil
	}
	inner, ok := strings.CutPrefix(part, "{")
	inner, closed := strings.CutSuffix(inner, "}")
	if !ok || !closed || strings.ContainsAny(inner, "{}") {
		return segment{}, fmt.Errorf("segment %q: a parameter is a whole segment, such as {int:id}", part)
	}
	kind, name, found := strings.Cut(inner, ":")
	if !found {
		kind, name = "", inner
	}
	if !isName(name) {
		return segment{}, fmt.Errorf("segment %q: the parameter has no proper name", part)
	}
	known := []converter{anyText, intKind, strKind, slugKind, uuidKind, restKind}
	if !slices.Contains(known, converter(kind)) {
		return segment{}, fmt.Errorf("segment %q: there is no converter %q; there are int, str, slug, uuid and path", part,
			kind)
	}
	return segment{name: name, kind: converter(kind)}, nil
}

// escapedLiteral escapes only the characters that an address must escape.
func escapedLiteral(part string) string {
	return (&url.URL{Path: "/" + part, RawPath: "/" + part}).EscapedPath()[1:]
}

// checkLiteral returns an error if no request can match the literal segment. The literal is
// the unescaped text, so it must not have escapes itself.
func checkLiteral(part string) error {
	switch {
	case part == "." || part == "..":
		return errors.New("it is a step in the path, which clients resolve before they send a request; dots inside a segment are fine, such as v1.2 or .well-known")
	case strings.Contains(part, "%"):
		return errors.New("it has a %, which begins an escape: write the characters as they are, such as /ä and not /%C3%A4; a slash cannot be part of a segment")
	case strings.ContainsAny(part, "?#"):
		return errors.New("it has a ? or #, which end a path: a parameter of the query is a field of the input")
	case !utf8.ValidString(part) || strings.IndexFunc(part, unicode.IsControl) >= 0:
		return errors.New("it has a control character or is no UTF-8, which a path cannot have")
	}
	return nil
}

func isName(s string) bool {
	for i, r := range s {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return s != ""
}

// mux returns the pattern for the [http.ServeMux] that finds conflicts. The parameters are
// renamed to p0, p1 and so on, so that routes that differ only in parameter names have the
// same pattern.
func (p pathPattern) mux() string {
	var b strings.Builder
	params := 0
	for _, s := range p.segments {
		b.WriteByte('/')
		switch {
		case s.name == "":
			b.WriteString(s.literal)
			continue
		case s.kind == restKind:
			b.WriteString("{p" + strconv.Itoa(params) + "...}")
		default:
			b.WriteString("{p" + strconv.Itoa(params) + "}")
		}
		params++
	}
	if p.slash || len(p.segments) == 0 {
		b.WriteString("/{$}")
	}
	return b.String()
}

// document returns the path as the OpenAPI document writes it, without converters.
func (p pathPattern) document() string {
	var b strings.Builder
	for _, s := range p.segments {
		if s.name == "" {
			b.WriteString("/" + s.literal)
		} else {
			b.WriteString("/{" + s.name + "}")
		}
	}
	if p.slash || len(p.segments) == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

// names returns the names of the parameters in order.
func (p pathPattern) names() []string {
	var names []string
	for _, s := range p.segments {
		if s.name != "" {
			names = append(names, s.name)
		}
	}
	return names
}
