package archtest

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Entry is where a trip begins: a function of a package, and one of its parameters.
type Entry struct {
	// Package is the path of the package in the module.
	Package string
	// Func is the name of a function, or of a type and its method: "Engine.Run".
	Func      string
	Parameter string
}

// Trip lists the files that a reader sees who follows one argument: each static call that passes on the
// argument, or a variable that was assigned from it, in the order of the text, into each function once.
// Errors are not followed, nor are interfaces, channels, and values of types that other modules declare. A
// file is listed again when the reader comes back to it.
type Trip []string

// Files returns how many files the trip has.
func (t Trip) Files() int {
	seen := make(map[string]bool)
	for _, file := range t {
		seen[file] = true
	}
	return len(seen)
}

// Returns returns how often the reader comes back to a file.
func (t Trip) Returns() int { return len(t) - t.Files() }

// Trips follows the arguments of the entries through the packages of the module that the pattern place
// matches.
func Trips(tree fs.FS, module, place string, entries ...Entry) ([]Trip, error) {
	c := checked{
		tree: tree, module: module, place: place, fset: token.NewFileSet(),
		packages: map[string]*types.Package{"unsafe": types.Unsafe},
		uses:     make(map[*ast.Ident]types.Object), defs: make(map[*ast.Ident]types.Object),
		bodies: make(map[*types.Func]*ast.BlockStmt),
	}
	trips := make([]Trip, len(entries))
	for i, e := range entries {
		pkg, err := c.Import(module + "/" + e.Package)
		if err != nil {
			return nil, err
		}
		fn, parameter := find(pkg, e)
		if c.bodies[fn] == nil || parameter == nil {
			return nil, fmt.Errorf("%s has no function %s with a parameter %s", e.Package, e.Func, e.Parameter)
		}
		r := reader{checked: &c, seen: make(map[*types.Func]bool)}
		r.enter(fn, []*types.Var{parameter})
		trips[i] = r.trip
	}
	return trips, nil
}

// find returns the function and the parameter of an entry, or nil.
func find(pkg *types.Package, e Entry) (*types.Func, *types.Var) {
	object := pkg.Scope().Lookup(e.Func)
	if receiver, method, ok := strings.Cut(e.Func, "."); ok {
		if named := pkg.Scope().Lookup(receiver); named != nil {
			object, _, _ = types.LookupFieldOrMethod(named.Type(), true, pkg, method)
		}
	}
	fn, ok := object.(*types.Func)
	if !ok {
		return nil, nil
	}
	for parameter := range fn.Signature().Params().Variables() {
		if parameter.Name() == e.Parameter {
			return fn, parameter
		}
	}
	return fn, nil
}

// checked is the type-checked code of a module. It imports the packages of other modules, and of the standard
// library, without their declarations: to read those would take ten times as long, and no trip goes there.
type checked struct {
	tree     fs.FS
	module   string
	place    string
	fset     *token.FileSet
	packages map[string]*types.Package
	uses     map[*ast.Ident]types.Object
	defs     map[*ast.Ident]types.Object
	bodies   map[*types.Func]*ast.BlockStmt // those of place
}

// Import implements [types.Importer].
func (c *checked) Import(importPath string) (*types.Package, error) {
	if pkg := c.packages[importPath]; pkg != nil {
		return pkg, nil
	}
	dir, ours := strings.CutPrefix(importPath, c.module+"/")
	if importPath == c.module {
		dir, ours = ".", true
	}
	if !ours {
		pkg := types.NewPackage(importPath, path.Base(importPath))
		pkg.MarkComplete()
		c.packages[importPath] = pkg
		return pkg, nil
	}
	files, err := c.parse(dir)
	if err != nil {
		return nil, err
	}
	followed := within(c.place, dir)
	config := types.Config{
		Importer: c, IgnoreFuncBodies: !followed,
		Error: func(error) {}, // the declarations of other modules are missing
	}
	info := types.Info{Uses: c.uses, Defs: c.defs}
	pkg, _ := config.Check(importPath, c.fset, files, &info)
	c.packages[importPath] = pkg
	for _, file := range files {
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && followed {
				if fn, ok := c.defs[d.Name].(*types.Func); ok {
					c.bodies[fn] = d.Body
				}
			}
		}
	}
	return pkg, nil
}

// parse returns the files of a package, without tests, as the compiler sees them on Linux.
func (c *checked) parse(dir string) ([]*ast.File, error) {
	entries, err := fs.ReadDir(c.tree, dir)
	if err != nil {
		return nil, err
	}
	system := build.Context{
		GOOS: "linux", GOARCH: "amd64", Compiler: "gc",
		OpenFile: func(name string) (io.ReadCloser, error) { return c.tree.Open(name) },
	}
	var files []*ast.File
	for _, entry := range entries {
		name := entry.Name()
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			continue
		}
		match, err := system.MatchFile(dir, name)
		if err != nil {
			return nil, err
		}
		if !match {
			continue
		}
		text, err := fs.ReadFile(c.tree, path.Join(dir, name))
		if err != nil {
			return nil, err
		}
		file, err := parser.ParseFile(c.fset, path.Join(dir, name), text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, file)
	}
	return files, nil
}

// callee returns the function that a call names, and the expression before its dot. The function is nil if
// the call names a type, a value, or what another module declares.
func (c *checked) callee(call *ast.CallExpr) (fn *types.Func, before ast.Expr) {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) { // explicit type arguments
	case *ast.IndexExpr:
		fun = f.X
	case *ast.IndexListExpr:
		fun = f.X
	}
	var name *ast.Ident
	switch f := fun.(type) {
	case *ast.Ident:
		name = f
	case *ast.SelectorExpr:
		name, before = f.Sel, f.X
	default:
		return nil, nil
	}
	if fn, ok := c.uses[name].(*types.Func); ok {
		return fn.Origin(), before
	}
	return nil, nil
}

// reader makes one trip.
type reader struct {
	*checked

	seen map[*types.Func]bool
	trip Trip
}

// enter reads a function that has got the argument as the given parameters.
func (r *reader) enter(fn *types.Func, parameters []*types.Var) {
	body := r.bodies[fn]
	if body == nil || r.seen[fn] {
		return
	}
	r.seen[fn] = true
	if file := r.fset.Position(body.Pos()).Filename; len(r.trip) == 0 || r.trip[len(r.trip)-1] != file {
		r.trip = append(r.trip, file)
	}
	followed := make(map[types.Object]bool)
	for _, v := range parameters {
		followed[v] = true
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				r.assign(followed, to, n.Rhs[min(i, len(n.Rhs)-1)])
			}
		case *ast.RangeStmt:
			r.assign(followed, n.Key, n.X)
			r.assign(followed, n.Value, n.X)
		case *ast.CallExpr:
			if fn, before := r.callee(n); fn != nil {
				if into := r.passed(followed, fn.Signature(), before, n.Args); len(into) > 0 {
					r.enter(fn, into)
				}
			}
		}
		return true
	})
}

// passed returns the parameters through which a call passes on a followed variable.
func (r *reader) passed(
	followed map[types.Object]bool, s *types.Signature, before ast.Expr, arguments []ast.Expr,
) (into []*types.Var) {
	if s.Recv() != nil && r.mentions(followed, before) {
		into = append(into, s.Recv())
	}
	for i, argument := range arguments {
		if s.Params().Len() > 0 && r.mentions(followed, argument) {
			into = append(into, s.Params().At(min(i, s.Params().Len()-1)))
		}
	}
	return into
}

// assign follows a variable from where it gets a value that mentions a followed one. A function literal is
// no such value: the reader reads it where it stands.
func (r *reader) assign(followed map[types.Object]bool, to, from ast.Expr) {
	if _, literal := from.(*ast.FuncLit); literal || !r.mentions(followed, from) {
		return
	}
	name, ok := to.(*ast.Ident)
	if !ok {
		return
	}
	object := r.defs[name]
	if object == nil {
		object = r.uses[name]
	}
	if v, ok := object.(*types.Var); ok && !slices.Contains(notFollowed, v.Type()) {
		followed[v] = true
	}
}

// notFollowed are the types whose values say how a call has ended, and types that are not known.
var notFollowed = []types.Type{types.Universe.Lookup("error").Type(), types.Typ[types.Bool], types.Typ[types.Invalid]}

// mentions reports whether an expression mentions a followed variable.
func (r *reader) mentions(followed map[types.Object]bool, e ast.Expr) (found bool) {
	if e == nil {
		return false
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && followed[r.uses[name]] {
			found = true
		}
		return !found
	})
	return found
}
