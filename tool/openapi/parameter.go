package openapi

import (
	"cmp"
	"net/http"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/tool/internal/argument"
	"github.com/spoolhq/spool/tool/internal/endpoint"
)

const (
	// maxParameters bounds the parameters of an operation, and those of a path: many paths can share a list.
	maxParameters = 1000
	// maxPath bounds a path, in bytes.
	maxPath = 4 << 10
)

// bodyArg is the name of the argument that becomes the body.
const bodyArg = "body"

// parameter is a parameter of an operation.
type parameter struct {
	argument.Param

	place    string
	node     map[string]any
	schema   any
	required bool
}

// queryStyles are the styles of a query and of a form, the usual one first.
var queryStyles = []argument.Style{argument.StyleForm, argument.StyleSpace, argument.StylePipe, argument.StyleDeep}

// places are the places of parameters, in the order of the arguments.
var places = []argument.Place{argument.Path, argument.Query, argument.Header, argument.Cookie}

// parameters returns the parameters of an operation that are arguments: those of the operation and of its
// path, in the order path, query, header, cookie.
func (b *sourceBuilder) parameters(o operation, p proof) ([]parameter, error) {
	var all []parameter
	var wrongs faults
	known := make(map[argument.Param]int) // where a parameter with a name and a place is in the list
	for _, holder := range []struct {
		of    map[string]any
		place string
	}{{o.item, o.itemPlace}, {o.node, o.place}} {
		items, err := parameterList(holder.of, holder.place)
		wrongs.add(err)
		for i, item := range items {
			param, err := b.parameter(item, holder.place+".parameters["+strconv.Itoa(i)+"]")
			wrongs.add(err)
			key := argument.Param{Name: param.Name, In: param.In}
			if same, twice := known[key]; twice { // that of the operation replaces that of the path
				all[same] = param
				continue
			}
			known[key] = len(all)
			all = append(all, param)
		}
	}
	all = slices.DeleteFunc(all, func(q parameter) bool { return b.isPreset(o, q.Param, p) })
	slices.SortStableFunc(all, func(a, c parameter) int {
		return cmp.Compare(slices.Index(places, a.In), slices.Index(places, c.In))
	})
	wrongs.add(b.checkPath(o, all))
	if b.configured("Cookie") && slices.ContainsFunc(all, func(q parameter) bool { return q.In == argument.Cookie }) {
		wrongs.add(wrong(o.place+".parameters", "the configured header Cookie lacks a cookie that is a parameter"))
	}
	return all, wrongs.err()
}

// parameterList returns the parameters of an operation or a path.
func parameterList(of map[string]any, place string) ([]any, error) {
	items, err := list(of, "parameters", place)
	if len(items) > maxParameters {
		return nil, wrong(place+".parameters", "are more than "+strconv.Itoa(maxParameters))
	}
	return items, err
}

// isPreset reports whether a request has a parameter without an argument: a secret, a configured header, one
// that follows from the call, or one that the query of the path has.
func (b *sourceBuilder) isPreset(o operation, q argument.Param, p proof) bool {
	switch q.In {
	case argument.Header:
		name := textproto.CanonicalMIMEHeaderKey(q.Name)
		return slices.Contains([]string{"Accept", "Authorization", "Content-Type", endpoint.HeaderKey}, name) ||
			p.header.Get(name) != "" || b.configured(name)
	case argument.Query:
		_, query := o.target()
		fixed, _ := url.ParseQuery(query) // what can be read of it
		return p.query.Has(q.Name) || fixed.Has(q.Name)
	case argument.Cookie:
		return b.cookie(q.Name) || slices.ContainsFunc(p.cookies,
			func(pair string) bool { return strings.HasPrefix(pair, q.Name+"=") })
	default:
		return false
	}
}

// checkPath refuses a path that cannot be sent as it is written, and parameters that it does not have.
func (b *sourceBuilder) checkPath(o operation, all []parameter) error {
	var wrongs faults
	if len(o.path) > maxPath {
		return wrong("paths."+o.path, "is longer than "+strconv.Itoa(maxPath)+" bytes")
	}
	path, query := o.target()
	template := argument.Names(path)
	for _, name := range template {
		if !slices.ContainsFunc(all, func(q parameter) bool { return q.In == argument.Path && q.Name == name }) {
			wrongs.add(wrong(o.place+".parameters", "the path has {"+name+"}, which is no parameter"))
		}
	}
	for _, q := range all {
		if q.In == argument.Path && !slices.Contains(template, q.Name) {
			wrongs.add(wrong(q.place, "the path has no {"+q.Name+"}"))
		}
	}
	remaining := path
	for _, name := range template {
		remaining = strings.Replace(remaining, "{"+name+"}", "x", 1)
	}
	_, err := url.Parse("http://x" + remaining + "?" + query)
	switch {
	case strings.ContainsAny(query, "{}"):
		wrongs.add(wrong("paths."+o.path, "parameters in the query of a path are not supported"))
	case err != nil || strings.ContainsAny(remaining, "{}"):
		wrongs.add(wrong("paths."+o.path, "is no path of a URL"))
	case slices.ContainsFunc(strings.Split(remaining, "/"), func(part string) bool { return part == "." || part == ".." }):
		wrongs.add(wrong("paths."+o.path, "leads to another path"))
	}
	return wrongs.err()
}

// parameter reads one parameter.
func (b *sourceBuilder) parameter(value any, place string) (parameter, error) {
	node, place, err := b.doc.object(value, place)
	if err != nil {
		return parameter{}, err
	}
	if at := text(node, placeKey); at != "" {
		place = at
	}
	q := parameter{
		Param: argument.Param{Name: text(node, "name"), In: argument.Place(text(node, "in"))}, node: node, place: place,
	}
	q.required = node["required"] == true || q.In == argument.Path
	styles := []argument.Style{argument.StyleSimple}
	switch q.In {
	case argument.Path:
		styles = []argument.Style{argument.StyleSimple, argument.StyleLabel, argument.StyleMatrix}
	case argument.Header:
		if refusedHeader(q.Name) {
			return q, wrong(place, "the header "+q.Name+" cannot be an argument")
		}
	case argument.Query:
		styles = queryStyles
		q.Reserved = node["allowReserved"] == true
	case argument.Cookie:
		styles = []argument.Style{argument.StyleForm}
	default:
		return q, wrong(place, "in must be path, query, header or cookie")
	}
	switch {
	case q.Name == "":
		return q, wrong(place, "needs a name")
	case (q.In == argument.Header || q.In == argument.Cookie) && !isToken(q.Name):
		return q, wrong(place, "its name cannot be that of a "+string(q.In))
	}
	q.Style = argument.Style(cmp.Or(text(node, "style"), string(styles[0])))
	if !slices.Contains(styles, q.Style) {
		return q, wrong(place, "the style "+string(q.Style)+" is not supported in a "+string(q.In))
	}
	q.Explode = q.Style == argument.StyleForm
	if explode, ok := node["explode"].(bool); ok {
		q.Explode = explode
	}
	if content, ok := node["content"].(map[string]any); ok {
		media, ok := content["application/json"].(map[string]any)
		if !ok {
			return q, wrong(place+".content", "only application/json is supported")
		}
		q.Style, node, place = argument.StyleJSON, media, place+".content.application/json"
	}
	if q.schema = node["schema"]; q.schema == nil {
		return q, wrong(place, "needs a schema")
	}
	if q.In == argument.Cookie && q.Explode && q.Style != argument.StyleJSON && b.composed(q.schema) {
		return q, wrong(place, "an exploded list or object has no form in a cookie")
	}
	return q, nil
}

// composed reports whether the values of a schema are objects or lists.
func (b *sourceBuilder) composed(schema any) bool {
	object, _, _ := b.doc.object(schema, "")
	return object["type"] == "object" || object["type"] == "array"
}

// refusedHeader reports whether a header belongs to the connection or to Spool.
func refusedHeader(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	return slices.Contains([]string{
		"Accept-Encoding", "Connection", "Content-Encoding", "Content-Length", "Cookie", "Host", "Te", "Trailer",
		"Transfer-Encoding", "Upgrade",
	}, name) || strings.HasPrefix(name, "Spool-") || strings.HasPrefix(name, "Webhook-")
}

// argumentName returns the first free name for a parameter. Names that differ only in the case of their
// letters are the same, as for the check of arguments. The value of a taken name is how many names are tried already.
func argumentName(q argument.Param, names map[string]int) string {
	name := valid(q.Name, ".")
	first := strings.ToLower(name + "\x00" + string(q.In)) // no name has the zero
	for n, next := 1, name; ; n++ {
		if key := strings.ToLower(next); names[key] == 0 {
			names[key] = 1
			names[first] = n
			return next
		}
		n = max(n, names[first])
		if next = valid(name+"_"+string(q.In), "."); n > 1 {
			next = valid(name+"_"+string(q.In)+strconv.Itoa(n), ".")
		}
	}
}

// hasBody reports whether requests of a method may have a body.
func hasBody(method string) bool { return method != http.MethodGet && method != http.MethodHead }
