package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/comment"
	"github.com/spoolhq/spool/rest/internal/schema"
)

// document is the OpenAPI document of an API. It is the connection to huma, which provides the
// document model, the schemas of Go types, and its own operations.
type document struct {
	api      *API
	open     *huma.OpenAPI
	registry *schema.Registry // of requests
	answers  *schema.Registry
	ids      map[string]string // route name by operation id
	own      bool              // the operation being added is not huma's
}

func newDocument(a *API) (*document, huma.API) {
	d := &document{api: a, registry: schema.New(), ids: map[string]string{}}
	d.registry.NameTypes(a.config.schemaNames)
	d.registry.NameBy(a.config.nameSchemas)
	if len(a.config.comments) > 0 {
		d.registry.DescribeBy(a.config.comment)
	}
	d.answers = d.registry.Answers()
	config := huma.DefaultConfig(a.config.title, a.config.version)
	config.Info.Description = a.config.description
	config.CreateHooks = nil // no $schema properties: their links use the client's Host header
	config.OpenAPIPath, config.DocsPath, config.SchemasPath = "", "", ""
	config.Components.Schemas = d.registry
	config.Transformers = append(config.Transformers, d.rawError)
	config.OnAddOperation = append(config.OnAddOperation, d.rawOperation)
	servers := a.config.servers
	if len(servers) == 0 {
		servers = []string{cmp.Or(a.config.baseURL, "/")}
	}
	for _, url := range servers {
		config.Servers = append(config.Servers, &huma.Server{URL: url})
	}
	raw := huma.NewAPI(config, rawAdapter{humago.NewAdapter(rawMux{a}, ""), a})
	d.open = raw.OpenAPI()
	return d, raw
}

// OpenAPI returns the API's document as OpenAPI 3.1 JSON. The same registrations give the same
// bytes.
func (a *API) OpenAPI() ([]byte, error) {
	if err := a.schemas.settle(); err != nil {
		return nil, err
	}
	b, err := json.MarshalIndent(a.schemas.open, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode the document: %w", err)
	}
	return append(b, '\n'), nil
}

// WriteOpenAPI writes the document to w, for a command that exports it.
func (a *API) WriteOpenAPI(w io.Writer) error {
	b, err := a.OpenAPI()
	if err != nil {
		return err
	}
	if _, err := w.Write(b); err != nil {
		return fmt.Errorf("write the document: %w", err)
	}
	return nil
}

// plan returns the compiled decoder for bodies of the type.
func (d *document) plan(t reflect.Type, ignoreUnknown bool, name string, options body.Options) (*body.Plan, error) {
	s, err := d.registry.Body(t, name, ignoreUnknown)
	if err != nil {
		return nil, err //nolint:wrapcheck // it names the type
	}
	return body.Compile(t, s, options) //nolint:wrapcheck // it names the type
}

// security adds an authenticator's scheme to the document.
func (d *document) security(s Scheme) error {
	if s.Name == "" {
		return errors.New("an authenticator has a scheme without a name: it could not be documented")
	}
	if !slices.Contains([]string{"apiKey", "http", "oauth2", "openIdConnect", "mutualTLS"}, s.Type) {
		return fmt.Errorf("the security scheme %s has the type %q, which OpenAPI does not know", s.Name, s.Type)
	}
	made := &huma.SecurityScheme{
		Type: s.Type, Description: s.Description, Name: s.Param, In: s.In, Scheme: s.HTTP,
		BearerFormat: s.BearerFormat, OpenIDConnectURL: s.DiscoveryURL,
	}
	if d.open.Components.SecuritySchemes == nil {
		d.open.Components.SecuritySchemes = map[string]*huma.SecurityScheme{}
	}
	if there, ok := d.open.Components.SecuritySchemes[s.Name]; ok && !reflect.DeepEqual(there, made) {
		return fmt.Errorf("two different security schemes are called %s", s.Name)
	}
	d.open.Components.SecuritySchemes[s.Name] = made
	return nil
}

func (d *document) operations(rt *route, unique bool) (err error) {
	defer schema.Catch(&err)
	for _, method := range rt.methods {
		id, err := d.operationID(rt, method, unique)
		if err != nil {
			return err
		}
		rt.ids = append(rt.ids, id)
		op := &huma.Operation{
			OperationID: id, Method: method, Path: rt.path.document(), Tags: rt.tags,
			Summary: rt.entry.config.summary, Description: rt.entry.config.description, Deprecated: rt.deprecated,
			Parameters: d.parameters(rt), RequestBody: d.requestBody(rt), Security: rt.securityNeeds(),
		}
		if comment := rt.comment(); op.Description == "" {
			op.Description = comment
		}
		op.Summary = cmp.Or(op.Summary, firstSentence(op.Description), words(rt.name[strings.LastIndexByte(rt.name, '.')+1:]))
		op.Responses = d.responses(rt)
		if rt.hidden {
			continue
		}
		d.tag(rt.tags)
		d.own = true
		d.open.AddOperation(op)
		d.own = false
	}
	return nil
}

// tag adds the tags to the document. They are listed in the order of their first routes.
func (d *document) tag(names []string) {
	for _, name := range names {
		if !slices.ContainsFunc(d.open.Tags, func(t *huma.Tag) bool { return t.Name == name }) {
			d.open.Tags = append(d.open.Tags, &huma.Tag{Name: name, Description: d.api.config.tags[name]})
		}
	}
}

// operationID returns the id of an operation. It is the same at each start.
func (d *document) operationID(rt *route, method string, unique bool) (string, error) {
	id := rt.entry.config.operationID
	explicit := id != ""
	if !explicit {
		id = rt.name
		if !unique {
			id = id[strings.LastIndexByte(id, '.')+1:]
		}
		id = strings.ReplaceAll(id, ".", "_")
	}
	if len(rt.methods) > 1 {
		id += "_" + strings.ToLower(method)
	}
	if other, taken := d.ids[id]; taken {
		if explicit || !unique {
			return "", fmt.Errorf("the operation id %s belongs to %s already", id, other)
		}
		for n := 2; taken; n++ {
			next := id + "_" + strconv.Itoa(n)
			if _, taken = d.ids[next]; !taken {
				id = next
			}
		}
	}
	d.ids[id] = rt.name
	return id, nil
}

// securityNeeds returns the schemes of a route, of which a caller needs only one. It returns an empty list, and not
// nil, for a route that asks nobody: the document then says so, and does not leave it open.
func (rt *route) securityNeeds() []map[string][]string {
	needs := []map[string][]string{}
	for _, a := range rt.auth {
		if a == Anonymous {
			needs = append(needs, map[string][]string{})
			continue
		}
		s := a.Scheme()
		scopes := s.Scopes
		if scopes == nil {
			scopes = []string{}
		}
		needs = append(needs, map[string][]string{s.Name: scopes})
	}
	return needs
}

// parameters returns the parameters of a route: those of the input first, then those of the
// paginator and the filters.
func (d *document) parameters(rt *route) []*huma.Param {
	var all []bind.Param
	if rt.input.params != nil {
		all = rt.input.params.Params()
	}
	if rt.list != nil {
		all = append(slices.Clip(all), rt.list.params()...)
	}
	var params []*huma.Param
	objects := map[*bind.Object]*huma.Param{}
	for _, p := range all {
		if p.In == "form" || p.In == "file" {
			continue
		}
		p = d.api.config.told(p)
		if p.Object != nil {
			if objects[p.Object] == nil {
				objects[p.Object] = d.deepObject(p.Object)
				params = append(params, objects[p.Object])
			}
			d.addKey(objects[p.Object], p)
			continue
		}
		params = append(params, d.parameter(p))
	}
	if _, out := rt.handler.types(); out == nil && rt.input.params == nil { // a raw handler
		for _, s := range rt.path.segments {
			if s.name != "" {
				params = append(params, &huma.Param{Name: s.name, In: "path", Required: true, Schema: s.schema()})
			}
		}
	}
	return rt.requestHeaders(params)
}

// deepObject returns the parameter of a struct in the query: filter[title]=Emma&filter[price]=7.
func (d *document) deepObject(o *bind.Object) *huma.Param {
	explode := true
	return &huma.Param{
		Name: o.Name, In: "query", Description: cmp.Or(o.Doc, d.api.config.comment(comment.Key(o.Owner, o.Field))),
		Style: "deepObject", Explode: &explode,
		Schema: &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}},
	}
}

func (d *document) addKey(object *huma.Param, p bind.Param) {
	s := *d.registry.Param(p)
	s.Description, s.Deprecated = p.Doc, p.Deprecated
	object.Schema.Properties[p.Key] = &s
	if p.Required {
		object.Required = true
		object.Schema.Required = append(object.Schema.Required, p.Key)
	}
}

func (s segment) schema() *huma.Schema {
	switch s.kind {
	case intKind:
		return &huma.Schema{Type: huma.TypeInteger, Format: "int64"}
	case uuidKind:
		return &huma.Schema{Type: huma.TypeString, Format: "uuid"}
	default:
		return &huma.Schema{Type: huma.TypeString}
	}
}

func (d *document) parameter(p bind.Param) *huma.Param {
	s := d.registry.Param(p)
	made := &huma.Param{
		Name: p.Name, In: p.In, Description: p.Doc, Required: p.Required ||
			p.In == "path", Deprecated: p.Deprecated, Schema: s,
	}
	if p.Type.Kind() == reflect.Slice && p.In == "query" {
		made.Explode = &p.Explode
	}
	return made
}

func (d *document) requestBody(rt *route) *huma.RequestBody {
	if b := rt.input.body; b != nil && b.upload {
		return &huma.RequestBody{Required: b.required, Content: uploadContent()}
	} else if b != nil {
		return &huma.RequestBody{Required: b.required, Content: content(b.contentType(), d.registry.Of(b.typ, rt.bodyName()))}
	}
	plan := rt.input.params
	if plan == nil || !plan.NeedsForm() {
		return nil
	}
	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{}}
	files := false
	var encoding map[string]*huma.Encoding
	for _, p := range plan.Params() {
		p = d.api.config.told(p)
		switch p.In {
		case "file":
			files = true
			if types := p.Field.Tag.Get("contentType"); types != "" {
				if encoding == nil {
					encoding = map[string]*huma.Encoding{}
				}
				encoding[p.Name] = &huma.Encoding{ContentType: types}
			}
			s := &huma.Schema{Type: huma.TypeString, Format: "binary"}
			if p.Type.Kind() == reflect.Slice {
				s = &huma.Schema{Type: huma.TypeArray, Items: s}
			}
			s.Description = p.Doc
			form.Properties[p.Name] = s
		case "form":
			if p.JSON {
				if encoding == nil {
					encoding = map[string]*huma.Encoding{}
				}
				encoding[p.Name] = &huma.Encoding{ContentType: "application/json"}
				form.Properties[p.Name] = d.registry.Of(p.Type, rt.partName(p))
				break
			}
			form.Properties[p.Name] = d.registry.Param(p)
		default:
			continue
		}
		if p.Required {
			form.Required = append(form.Required, p.Name)
		}
	}
	types := map[string]*huma.MediaType{"multipart/form-data": {Schema: form, Encoding: encoding}}
	if !files {
		types["application/x-www-form-urlencoded"] = &huma.MediaType{Schema: form, Encoding: encoding}
	}
	return &huma.RequestBody{Required: len(form.Required) > 0, Content: types}
}

func (d *document) responses(rt *route) map[string]*huma.Response {
	all := map[string]*huma.Response{}
	d.success(rt, all)
	for _, r := range rt.entry.config.returns {
		response := &huma.Response{Description: rt.describe(r.status)}
		if body := rt.bodyType(r.body); body != nil {
			response.Content = content("application/json", d.answers.Of(body, rt.bodyName()))
		}
		all[strconv.Itoa(r.status)] = response
	}
	if rt.entry.config.conditional && onlyReads(rt.methods) {
		all["304"] = &huma.Response{Description: rt.describe(http.StatusNotModified)}
	}
	contentType, kind := d.api.config.renderer.Document()
	var usual []int
	for _, status := range rt.failures() {
		if _, said := all[strconv.Itoa(status)]; said {
			continue
		}
		all[strconv.Itoa(status)] = &huma.Response{
			Description: rt.describe(status), Content: content(contentType, d.answers.Of(kind, "Error")),
		}
		usual = append(usual, status)
	}
	d.headers(rt, all)
	for _, status := range usual {
		if rt.entry.config.described[status] == "" && !rt.hidden {
			all[strconv.Itoa(status)] = d.shared(status, all[strconv.Itoa(status)])
		}
	}
	return all
}

// shared moves an error answer to the components, and returns a reference to it. Most routes have the same error
// answers. Those of one status that differ, in their headers, have numbers in their names.
func (d *document) shared(status int, r *huma.Response) *huma.Response {
	all := d.open.Components.Responses
	if all == nil {
		all = map[string]*huma.Response{}
		d.open.Components.Responses = all
	}
	base := cmp.Or(exported(http.StatusText(status)), "Status"+strconv.Itoa(status))
	name := base
	for i := 2; all[name] != nil && !reflect.DeepEqual(all[name], r); i++ {
		name = base + strconv.Itoa(i)
	}
	all[name] = r
	return &huma.Response{Ref: "#/components/responses/" + name}
}

func headerOf(description, kind string) *huma.Param {
	return &huma.Param{Description: description, Schema: &huma.Schema{Type: kind}}
}

func (rt *route) describe(status int) string {
	return cmp.Or(rt.entry.config.described[status], http.StatusText(status), strconv.Itoa(status))
}

func (d *document) success(rt *route, all map[string]*huma.Response) {
	_, out := rt.handler.types()
	response := &huma.Response{Description: rt.describe(rt.status)}
	switch {
	case rt.list != nil:
		response.Content = content("application/json", d.page(rt))
	case out == nil && len(rt.entry.config.returns) > 0, rt.answers == answersReply:
		return // all its answers are declared with Returns
	case len(rt.entry.config.produces) > 0:
		response.Content = map[string]*huma.MediaType{}
		for _, contentType := range rt.entry.config.produces {
			response.Content[contentType] = &huma.MediaType{Schema: bytesSchema()}
		}
	case out == nil, rt.answers == answersNothing, (rt.answers == answersJSON || rt.answers == answersTyped) &&
		rt.bodyType(rt.body) == nil:
	case len(rt.entry.config.emits) > 0:
		response.Content = content("text/event-stream", d.events(rt))
	case rt.answers == answersItself:
		response.Content = d.itself(out)
	default:
		response.Content = content("application/json", d.answers.Of(rt.bodyType(rt.body), rt.bodyName()))
	}
	all[strconv.Itoa(rt.status)] = response
}

// itself returns the content of an answer that writes itself.
func (d *document) itself(out reflect.Type) map[string]*huma.MediaType {
	contentType := "*/*"
	if own, ok := reflect.TypeAssert[DocumentedResponder](reflect.Zero(out)); ok {
		var body reflect.Type
		if contentType, body = own.Document(); body != nil {
			return content(contentType, d.answers.Of(body, exported(body.Name())+"Item"))
		}
	}
	return content(contentType, bytesSchema())
}

func content(contentType string, s *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{contentType: {Schema: s}}
}

func bytesSchema() *huma.Schema { return &huma.Schema{Type: huma.TypeString, Format: "binary"} }

// page returns the schema of a list's body, in the shape of its paginator.
func (d *document) page(rt *route) *huma.Schema {
	item := d.answers.Of(rt.list.item, exported(strings.ReplaceAll(rt.name, ".", "_"))+"Item")
	items := &huma.Schema{Type: huma.TypeArray, Items: item}
	shape := rt.list.paginator.Shape()
	if shape.Name == "" {
		return items
	}
	object := &huma.Schema{Type: huma.TypeObject, AdditionalProperties: false, Properties: map[string]*huma.Schema{}}
	for _, p := range shape.Properties {
		s := items
		if p.Type != nil {
			s = d.answers.Of(p.Type, shape.Name+p.Name)
		}
		property := *s
		property.Description, property.Nullable = p.Doc, p.Nullable
		object.Properties[p.Name] = &property
		object.Required = append(object.Required, p.Name)
	}
	return d.answers.Named(shape.Name+d.answers.Name(rt.list.item, rt.bodyName()), object)
}

// failures returns the error statuses that a route can answer, from its options and its
// stages.
func (rt *route) failures() []int {
	all := slices.Clone(rt.entry.config.fails)
	add := func(when bool, statuses ...int) {
		if when {
			all = append(all, statuses...)
		}
	}
	hasInput := rt.input.params != nil || rt.input.body != nil || rt.list != nil
	add(len(rt.auth) > 0, http.StatusUnauthorized)
	add(len(rt.throttles)+len(rt.first) > 0, http.StatusTooManyRequests, http.StatusServiceUnavailable)
	byCookie := slices.ContainsFunc(rt.auth, func(a Authenticator) bool { return a.Scheme().In == "cookie" })
	add(len(rt.permissions) > 0 || byCookie, http.StatusForbidden) // a cookie from another origin is refused
	add(hasInput || rt.unknown == RefuseAll, rt.api.config.invalidStatus)
	add(rt.path.typed || len(rt.pathNames) > 0, http.StatusNotFound)
	upload := rt.input.body != nil && rt.input.body.upload
	add(upload, http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	add(rt.input.body != nil && !upload || (rt.input.params != nil && rt.input.params.NeedsForm()),
		http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	add(rt.list != nil && rt.list.mayEnd(), http.StatusNotFound)
	add(true, http.StatusInternalServerError)
	slices.Sort(all)
	return slices.Compact(all)
}
