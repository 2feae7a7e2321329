// Package argument turns the arguments of a call into the parts of an HTTP request: the path, the query, the
// headers and the body.
package argument

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/spoolhq/spool"
	"github.com/spoolhq/spool/internal/argschema"
)

// Place is the part of a request that has an argument.
type Place string

// The places of arguments.
const (
	Path   Place = "path"
	Query  Place = "query"
	Header Place = "header"
	Cookie Place = "cookie"
)

// Body is the form of a request's body.
type Body string

// The forms of bodies.
const (
	NoBody    Body = ""
	JSON      Body = "json"
	Form      Body = "form"
	Multipart Body = "multipart"
	Text      Body = "text"
	// Binary is a file.
	Binary Body = "binary"
)

// Param is an argument that has a place in the request.
type Param struct {
	// Arg is the name of the argument, and Name is the name in the request.
	Arg, Name string
	In        Place
	Style     Style
	Explode   bool
	// Reserved leaves characters in a query as they are that have a meaning in a URL, where the query stays the
	// same.
	Reserved bool
	// Indices numbers all lists of StyleDeep. Without it, a list of scalars within an object repeats its name.
	Indices bool
}

// Plan says how the requests of a tool are built. It must not be changed once it is used.
type Plan struct {
	Method string
	// Base is the URL before Path. It may have a query, and ends without a slash.
	Base string
	// Path begins with a slash, and has the names of the path's parameters in braces. It may be empty.
	Path   string
	Params []Param
	// BodyArg is the argument that becomes the body. Empty: the arguments that are no Params together.
	BodyArg string
	Body    Body
	// Fields are the properties of a body of the kind Form or Multipart that are not written as by default.
	Fields map[string]Field
	// ContentType is the content type of the body. Empty: application/json, or the one of the other kinds. A body of the
	// kind Binary may have a range of types, such as image/*.
	ContentType string
	// Files are the places of files in a body of JSON, which are written there in base64. A step "*" is each
	// item of a list or each value of an object, and other steps are "." and the name of a property.
	Files [][]string
	// Rest says that arguments that are no Params are in the query.
	Rest bool
	// Query are further pairs of each query, such as a key.
	Query url.Values
}

// Built is what a plan makes of arguments.
type Built struct {
	URL    *url.URL
	Header http.Header
	// Body is nil if there is none.
	Body []byte
}

// Build returns the parts of a request. It returns an [spool.Invalid] error that names the argument if one
// cannot be where it has to be, and the error of open for a file that cannot be opened. Nil: there are no files.
func (p *Plan) Build(args json.RawMessage, open OpenFunc) (Built, error) {
	values, err := decode(args)
	if err != nil {
		return Built{}, err
	}
	b := &builder{header: make(http.Header), path: make(map[string]string), owners: p.owners()}
	for _, param := range p.Params {
		if value := values[param.Arg]; value != nil {
			if err := b.add(param, value); err != nil {
				return Built{}, err
			}
		}
		delete(values, param.Arg)
	}
	if len(b.cookies) > 0 {
		b.header.Set("Cookie", strings.Join(b.cookies, "; "))
	}
	body, err := p.body(values, args, b.header, open)
	if err != nil {
		return Built{}, err
	}
	if p.Rest {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			if values[name] == nil {
				continue
			}
			if err := b.add(Param{Arg: name, Name: name, In: Query, Style: StyleForm, Explode: true}, values[name]); err != nil {
				return Built{}, err
			}
		}
	}
	target, err := p.url(b)
	return Built{URL: target, Header: b.header, Body: body}, err
}

func decode(args json.RawMessage) (map[string]any, error) {
	values := make(map[string]any)
	if len(args) == 0 {
		return values, nil
	}
	d := json.NewDecoder(bytes.NewReader(args))
	d.UseNumber() // so that each number is sent as the model wrote it
	if err := d.Decode(&values); err != nil {
		return nil, spool.Errorf(spool.Invalid, "arguments must be a JSON object")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, spool.Errorf(spool.Invalid, "arguments are no JSON: something follows the object")
	}
	return values, nil
}

// body returns the body of a request, and sets its content type.
func (p *Plan) body(values map[string]any, args json.RawMessage, h http.Header, open OpenFunc) ([]byte, error) {
	if p.Body == NoBody {
		return nil, nil
	}
	var value any = values
	if p.BodyArg != "" {
		argument, ok := values[p.BodyArg]
		if !ok {
			return nil, nil
		}
		value = argument
	}
	switch p.Body {
	case Form:
		h.Set("Content-Type", p.contentType("application/x-www-form-urlencoded"))
		return p.form(p.BodyArg, value)
	case Multipart:
		return p.multipart(value, open, h)
	case Text:
		text, ok := scalar(value)
		if !ok {
			return nil, wrong(p.BodyArg, "must be a text")
		}
		h.Set("Content-Type", p.contentType("text/plain"))
		return []byte(text), nil
	case Binary:
		file, kind, err := openFile(p.BodyArg, value, []string{p.contentType(unknownType)}, open)
		if err != nil {
			return nil, err
		}
		h.Set("Content-Type", kind)
		return file.Data, nil
	default:
	}
	h.Set("Content-Type", p.contentType("application/json"))
	if p.BodyArg == "" && len(p.Params) == 0 && len(args) > 0 {
		return args, nil // unchanged
	}
	for _, steps := range p.Files {
		var err error
		if value, err = fill(p.BodyArg, value, steps, open); err != nil {
			return nil, err
		}
	}
	return json.Marshal(value)
}

func (p *Plan) contentType(usual string) string { return cmp.Or(p.ContentType, usual) }

// builder collects the parts of a request.
type builder struct {
	header  http.Header
	path    map[string]string
	query   []string
	cookies []string
	owners  owners
}

// add puts an argument in its place.
func (b *builder) add(p Param, value any) error {
	switch p.In {
	case Path:
		text, err := inPath(p, value)
		if err != nil {
			return err
		}
		for part := range strings.FieldsFuncSeq(plain(value), func(r rune) bool { return r == '/' || r == '\\' }) {
			if part == "." || part == ".." {
				return wrong(p.Arg, "must not lead to another path")
			}
		}
		if text == "" {
			return wrong(p.Arg, "must not be empty, as it is a part of the path")
		}
		b.path[p.Name] = text
	case Header:
		text, err := joined(p, value, ",", func(s string) string { return s })
		if err != nil {
			return err
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
			return wrong(p.Arg, "must not have control characters, as it is a header")
		}
		b.header[textproto.CanonicalMIMEHeaderKey(p.Name)] = []string{text}
	case Cookie:
		if _, plain := scalar(value); !plain && p.Explode && p.Style != StyleJSON {
			return wrong(p.Arg, "must not be an object or a list, as it is a cookie")
		}
		text, err := joined(p, value, ",", percent)
		if err != nil {
			return err
		}
		b.cookies = append(b.cookies, p.Name+"="+text)
	default:
		pairs, err := query(p, value)
		if err == nil {
			err = b.owners.claim(p.Arg, pairs)
		}
		if err != nil {
			return err
		}
		b.query = append(b.query, pairs...)
	}
	return nil
}

// url returns the URL with the arguments in it.
func (p *Plan) url(b *builder) (*url.URL, error) {
	path, err := expand(p.Path, b.path)
	if err != nil {
		return nil, err
	}
	base, fixed, _ := strings.Cut(p.Base, "?")
	all := slices.Clone(b.query)
	if len(p.Query) > 0 {
		all = append(all, p.Query.Encode())
	}
	if fixed != "" {
		all = append([]string{fixed}, all...)
	}
	text := base + path
	if len(all) > 0 {
		text += "?" + strings.Join(all, "&")
	}
	target, err := url.Parse(text)
	if err != nil {
		return nil, spool.Errorf(spool.Invalid, "the arguments make no URL")
	}
	return target, nil
}

// expand replaces the names in braces by their values.
func expand(path string, values map[string]string) (string, error) {
	if !strings.Contains(path, "{") {
		return path, nil
	}
	var b strings.Builder
	for remaining := path; remaining != ""; {
		before, after, found := strings.Cut(remaining, "{")
		b.WriteString(before)
		if !found {
			break
		}
		name, more, _ := strings.Cut(after, "}")
		value, ok := values[name]
		if !ok {
			return "", wrong(name, "is required, as it is a part of the path")
		}
		b.WriteString(value)
		remaining = more
	}
	for part := range strings.SplitSeq(b.String(), "/") {
		if part == "." || part == ".." { // of several arguments together
			return "", spool.Errorf(spool.Invalid, "the arguments must not lead to another path")
		}
	}
	return b.String(), nil
}

// Names returns the names in braces in a path.
func Names(path string) (names []string) {
	for remaining := path; ; {
		_, after, found := strings.Cut(remaining, "{")
		if !found {
			return names
		}
		name, more, closed := strings.Cut(after, "}")
		if !closed {
			return names
		}
		names, remaining = append(names, name), more
	}
}

func wrong(arg, text string) error {
	return spool.Errorf(spool.Invalid, "argument %s %s", argschema.Bound(arg), text)
}
