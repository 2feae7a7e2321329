package rest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/wire"
)

// route is a compiled route of an API. It does not change after the first request.
type route struct {
	level

	api        *API
	controller Controller
	handler    handler
	name       string // "Books.list"
	methods    []string
	path       pathPattern
	pathNames  []string
	wrapped    bool // has controller or route middleware, which may read path parameters

	input    *input
	answers  answerKind
	nilable  bool // the answer may be a nil that needs care when it is written
	status   int
	statuses []int                  // the other statuses that the route may answer
	body     reflect.Type           // of the usual answer; nil if there is none, or it is unknown
	bodies   map[int][]reflect.Type // by status; a nil type means no body
	list     *list
	heads    map[reflect.Type]*answerType // the answer types that have headers
	wire     wire.Plan                    // of the handler's result type
	// bodyLabel is the name of the body in the faults of [DetailErrors].
	bodyLabel string
	checks    []inputCheck
	secrets   []string // query parameters that are left out of links

	// judges is true if a handler of the route should check object permissions. If it checks
	// none, that is logged once.
	judges   bool
	unjudged sync.Once

	entry *entry
	info  *RouteInfo
	tags  []string
	ids   []string // operation ids, one for each method
}

// answerKind says how a handler's result becomes an answer.
type answerKind int

const (
	answersJSON answerKind = iota
	answersNothing
	answersReply
	answersItself
	answersTyped
)

func (a *API) compile(e *entry, controller Controller, config controllerConfig, namespace string) (*route, error) {
	rt := &route{
		api: a, controller: controller, handler: e.handler, methods: e.methods, entry: e, checks: e.config.checks,
		level: e.config.under(config.under(a.config.level)),
	}
	below, err := parsePath(config.prefix, e.path)
	if err != nil {
		return nil, err
	}
	if rt.path, err = parsePath(a.config.basePath+"/"+config.prefix, e.path); err != nil {
		return nil, err
	}
	rt.pathNames = rt.path.names()
	rt.name = routeName(namespace, e.config.name, e.methods[0], below)
	rt.tags = e.config.tags
	if rt.tags == nil {
		rt.tags = config.tags
	}
	if rt.tags == nil && namespace != "" {
		rt.tags = []string{namespace}
	}
	in, out := e.handler.types()
	if in, err = e.config.inputOf(in); err != nil {
		return nil, err
	}
	if rt.input, err = compileInput(in, rt.name); err != nil {
		return nil, err
	}
	if err := rt.checkPath(in); err != nil {
		return nil, err
	}
	for _, c := range rt.checks {
		if structOf(c.in) != rt.input.typ {
			return nil, fmt.Errorf("a check is of the input %v, and the handler's is %v", c.in, in)
		}
	}
	if err := rt.compileBody(); err != nil {
		return nil, err
	}
	if err := rt.checkVerifier(); err != nil {
		return nil, err
	}
	rt.bodyLabel = rt.nameOfBody()
	if err := rt.compileOutput(out); err != nil {
		return nil, err
	}
	if err := rt.checkSecurity(); err != nil {
		return nil, err
	}
	rt.judges = rt.list == nil && !slices.Contains(rt.methods, http.MethodPost) &&
		slices.ContainsFunc(rt.permissions, judgesObjects)
	rt.compileKnown()
	rt.info = &RouteInfo{
		Name: rt.name, Methods: rt.methods, Path: rt.path.document(), Controller: reflect.TypeOf(controller),
	}
	return rt, nil
}

func judgesObjects(p Permission) bool {
	_, ok := p.(ObjectPermission)
	return ok
}

// checkPath returns an error if the path's parameters and the input's path fields differ.
func (rt *route) checkPath(in reflect.Type) error {
	if in == nil {
		return nil // a raw handler reads for itself
	}
	var wanted []string
	if rt.input.params != nil {
		for _, p := range rt.input.params.Params() {
			if p.In == "path" {
				wanted = append(wanted, p.Name)
			}
		}
	}
	for _, name := range wanted {
		if !slices.Contains(rt.pathNames, name) {
			return fmt.Errorf("the input %v has a field for {%s}, which is not in the path %s", in, name, rt.path.document())
		}
	}
	for _, name := range rt.pathNames {
		if !slices.Contains(wanted, name) {
			return fmt.Errorf("the path %s has {%s}, for which the input %v has no field", rt.path.document(), name, in)
		}
	}
	return nil
}

func (rt *route) compileBody() error {
	b := rt.input.body
	if b == nil {
		return rt.compileParts()
	}
	for _, m := range rt.methods {
		if m == http.MethodGet || m == http.MethodHead || m == http.MethodTrace {
			return fmt.Errorf("a %s has no body, but the input %v has one: its fields need the tag of a source, such as query",
				m, rt.input.typ)
		}
	}
	if b.upload {
		return nil
	}
	if err := rt.compileMerger(b); err != nil {
		return err
	}
	var err error
	b.plan, err = rt.planOf(b.typ, rt.bodyName())
	return err
}

// planOf returns the decoder of a type in the body.
func (rt *route) planOf(t reflect.Type, name string) (*body.Plan, error) {
	if err := wire.Check(t); err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	return rt.api.schemas.plan(t, rt.unknown == IgnoreUnknown, name, rt.bodyOptions())
}

func (rt *route) bodyOptions() body.Options {
	return body.Options{
		Codec: rt.api.config.codec, Loose: rt.tolerates(LooseValues), Absent: rt.tolerates(AbsentFields),
		MaxDepth: rt.api.config.bounds.Depth,
	}
}

// bodyName returns a name for a body type that has none.
func (rt *route) bodyName() string { return exported(strings.ReplaceAll(rt.name, ".", "_")) + "Body" }

// compileOutput decides how the handler's result becomes an answer.
func (rt *route) compileOutput(out reflect.Type) error {
	config := rt.entry.config
	rt.status = config.status
	for _, d := range config.returns {
		rt.statuses = append(rt.statuses, d.status)
		if err := rt.compileHeads(d.body); err != nil {
			return err
		}
		if err := rt.checkDeclared(d); err != nil {
			return err
		}
	}
	switch {
	case rt.entry.list:
		if err := rt.compileList(out); err != nil {
			return err
		}
	case len(config.stages) > 0:
		return errors.New("filters, orderings and searches are for rest.List")
	case out == nil:
	case out == reflect.TypeFor[NoContent]():
		rt.answers = answersNothing
		if rt.status == 0 {
			rt.status = http.StatusNoContent
		}
	case out == reflect.TypeFor[*Reply]():
		rt.answers = answersReply
		if len(config.returns) == 0 {
			return errors.New("the handler answers *rest.Reply: say what it may answer by rest.Returns and rest.Detail")
		}
		if rt.status == 0 {
			rt.status = config.returns[0].status
		}
	case reflect.PointerTo(out).Implements(reflect.TypeFor[answerer]()):
		if err := rt.compileAnswer(out); err != nil {
			return err
		}
	case isResponder(out):
		rt.answers = answersItself
	case isWhole(out):
		return fmt.Errorf(
			"the handler answers %v: %v is an answer by itself, and stands neither behind a pointer nor in a list", out,
			wholeOf(out),
		)
	default:
		rt.wire = wire.PlanOf(reflect.PointerTo(out))
		if err := rt.compileJSON(out); err != nil {
			return err
		}
	}
	if len(config.produces) > 0 && out != nil && rt.answers != answersItself {
		return fmt.Errorf("rest.Produces is for answers that write themselves; %v is written as JSON", out)
	}
	if err := rt.checkEmits(out); err != nil {
		return err
	}
	if rt.status == 0 {
		rt.status = http.StatusOK
	}
	if rt.status < 200 || rt.status > 399 {
		return fmt.Errorf("%d is not the status of an answer without an error; declare others with rest.Fails and rest.Also",
			rt.status)
	}
	rt.compileBodies()
	return rt.checkBodies()
}

// checkBodies returns an error if an answer of the route can never be written whole.
func (rt *route) checkBodies() error {
	var all []reflect.Type
	if rt.list != nil {
		all = append(all, rt.list.item)
	}
	for _, status := range slices.Sorted(maps.Keys(rt.bodies)) {
		all = append(all, rt.bodies[status]...)
	}
	for _, t := range all {
		if err := wire.Check(t); err != nil {
			return fmt.Errorf("an answer: %w", err)
		}
	}
	return nil
}

func (rt *route) compileAnswer(out reflect.Type) error {
	a, _ := reflect.TypeAssert[answerer](reflect.New(out))
	body := a.bodyType()
	if isWhole(body) {
		return fmt.Errorf("the handler answers %v: %v is an answer by itself, and cannot be the body of one", out, body)
	}
	if err := rt.compileJSON(body); err != nil {
		return err
	}
	rt.answers = answersTyped
	if slices.Contains(rt.statuses, cmp.Or(rt.status, http.StatusOK)) {
		return fmt.Errorf("the status %d is declared twice: it is the usual one of the route",
			cmp.Or(rt.status, http.StatusOK))
	}
	return nil
}

// compileJSON compiles the type that is written as JSON. The type [NoContent] means no body.
func (rt *route) compileJSON(body reflect.Type) error {
	if err := checkNoError(body); err != nil {
		return err
	}
	rt.body = bodyOf(body)
	if err := rt.compileHeads(rt.body); err != nil {
		return err
	}
	rt.nilable = rt.body != nil && isNilable(rt.body)
	written := rt.bodyType(rt.body)
	if rt.status == 0 && written == nil {
		rt.status = http.StatusNoContent
	}
	if written != nil && (rt.status == http.StatusNoContent || rt.status == http.StatusNotModified) {
		return fmt.Errorf("an answer with the status %d has no body, but the handler returns %v: return rest.NoContent",
			rt.status, body)
	}
	return nil
}

func (rt *route) compileBodies() {
	rt.bodies = map[int][]reflect.Type{}
	if rt.body != nil {
		rt.bodies[rt.status] = []reflect.Type{rt.body}
	}
	for _, d := range rt.entry.config.returns {
		rt.bodies[d.status] = append(rt.bodies[d.status], d.body)
	}
}

// checkDeclared returns an error if a declared answer can never be sent.
func (rt *route) checkDeclared(d declared) error {
	switch {
	case d.status == 0:
		return errors.New("an answer is declared without a status: rest.Also makes an Alternative")
	case d.body == nil:
		return nil
	case isWhole(d.body):
		return fmt.Errorf("the status %d is declared with %v, which is an answer by itself, and cannot be the body of one",
			d.status, d.body)
	case (d.status == http.StatusNoContent || d.status == http.StatusNotModified) && rt.bodyType(d.body) != nil:
		return fmt.Errorf("an answer with the status %d has no body, but %v is declared for it: declare rest.NoContent",
			d.status, d.body)
	}
	return checkNoError(d.body)
}

// checkNoError returns an error if the body type is an error interface, or a pointer, list or
// map of one. An error has no useful JSON form: usually {}.
func checkNoError(body reflect.Type) error {
	t := body
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Array || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	if t.Kind() != reflect.Interface || !t.Implements(reflect.TypeFor[error]()) {
		return nil
	}
	return fmt.Errorf("the body of an answer is %v, and an error has no JSON of its own: return it as the error of the handler, "+
		"or answer a struct that says what went wrong", body)
}

// isWhole reports whether the type is an answer by itself, or a pointer to or list of one.
func isWhole(t reflect.Type) bool {
	for whole := t; ; whole = whole.Elem() {
		if whole == reflect.TypeFor[Reply]() || isResponder(whole) ||
			reflect.PointerTo(whole).Implements(reflect.TypeFor[answerer]()) {
			return true
		}
		if whole.Kind() != reflect.Pointer && whole.Kind() != reflect.Slice {
			return false
		}
	}
}

// wholeOf returns the type that is an answer by itself, for a type that isWhole accepts.
func wholeOf(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Slice || t.Kind() == reflect.Pointer && !isResponder(t) &&
		t.Elem() != reflect.TypeFor[Reply]() {
		t = t.Elem()
	}
	return t
}

func isResponder(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[Responder]()) || reflect.PointerTo(t).Implements(reflect.TypeFor[Responder]())
}

// isNilable reports whether a value of the type may be nil and is not left to its own
// MarshalJSON.
func isNilable(t reflect.Type) bool {
	kind := t.Kind()
	return kind == reflect.Pointer || (kind == reflect.Slice || kind == reflect.Map) &&
		!t.Implements(reflect.TypeFor[json.Marshaler]())
}

// checkSecurity refuses authenticators that the document cannot describe: everything that is
// enforced must be documented.
func (rt *route) checkSecurity() error {
	for i, a := range rt.auth {
		if a == nil {
			return fmt.Errorf("authenticator %d is nil", i+1)
		}
		if a == Anonymous {
			if i != len(rt.auth)-1 {
				return errors.New("rest.Anonymous has to be the last authenticator")
			}
			continue
		}
		if err := rt.api.schemas.security(a.Scheme()); err != nil {
			return err
		}
	}
	for i, p := range rt.permissions {
		if p == nil {
			return fmt.Errorf("permission %d is nil", i+1)
		}
	}
	for i, t := range slices.Concat(rt.first, rt.throttles) {
		if t == nil {
			return fmt.Errorf("throttle %d is nil", i+1)
		}
	}
	return nil
}

func (rt *route) compileKnown() {
	add := func(in, name string) {
		if in == "query" {
			rt.input.known = append(rt.input.known, name)
		}
	}
	if rt.input.params != nil {
		for _, p := range rt.input.params.Params() {
			add(p.In, p.Name)
		}
	}
	for _, a := range rt.auth {
		if s := a.Scheme(); s.In == "query" {
			add(s.In, s.Param)
			rt.secrets = append(rt.secrets, s.Param)
		}
	}
	if rt.list != nil {
		for _, p := range rt.list.params() {
			add("query", p.Name)
		}
	}
}

// bodyBytes returns the size limit of a body: the route's setting, or usual if there is none.
func (rt *route) bodyBytes(usual int64) int64 {
	return cmp.Or(rt.maxBody, usual)
}

// serve answers a request. The middleware of the controller and the route has already run.
func (rt *route) serve(w http.ResponseWriter, r *http.Request) {
	rt.handler.serve(rt, w, r, r.URL.EscapedPath())
}

// routeName returns the name of a route, such as "Books.list".
func routeName(namespace, name, method string, path pathPattern) string {
	if name == "" {
		var b strings.Builder
		b.WriteString(strings.ToLower(method))
		for _, s := range path.segments {
			b.WriteString(exported(s.literal + s.name))
		}
		name = b.String()
	}
	if namespace == "" {
		return name
	}
	return namespace + "." + name
}
