//go:build unix

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
)

// edit is one mistake in a file: the bytes from Start to End become New.
type edit struct {
	File     string      `json:"file"` // slashes, relative to the tree
	Line     int         `json:"line"`
	Column   int         `json:"column"` // in bytes
	Operator string      `json:"operator"`
	Start    int         `json:"start"`
	End      int         `json:"end"`
	Old      string      `json:"old"`
	New      string      `json:"new"`
	Decl     declaration `json:"-"` // the function around it
}

// declaration is a function or a method. It finds an edit in another tree.
type declaration struct {
	Name  string // "Writer.Append"
	Start int    // in the file
	Text  string
}

// String names the edit. A resumed run knows by it what is done.
func (e *edit) String() string {
	return fmt.Sprintf("%s:%d:%d %s", e.File, e.Line, e.Column, e.Operator)
}

// apply returns the source with the mistake in it.
func (e *edit) apply(source []byte) []byte {
	return slices.Concat(source[:e.Start], []byte(e.New), source[e.End:])
}

// swapped has what each of these tokens becomes.
var swapped = map[token.Token]struct{ operator, to string }{
	token.EQL:  {"equal", "!="},
	token.NEQ:  {"equal", "=="},
	token.LSS:  {"bound", "<="},
	token.LEQ:  {"bound", "<"},
	token.GTR:  {"bound", ">="},
	token.GEQ:  {"bound", ">"},
	token.LAND: {"logic", "||"},
	token.LOR:  {"logic", "&&"},
}

// edits returns the mistakes that fit into the functions of a file, in the order of the source.
func edits(file string, source []byte) ([]edit, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, fmt.Errorf("parse %s: %w", file, err)
	}
	if ast.IsGenerated(f) {
		return nil, nil
	}
	m := &mutator{file: file, source: source, tokens: files.File(f.FileStart)}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			m.function(fn)
		}
	}
	slices.SortStableFunc(m.found, func(a, b edit) int { return cmp.Compare(a.Start, b.Start) })
	return m.found, nil
}

// mutator collects the mistakes of one file.
type mutator struct {
	file   string
	source []byte
	tokens *token.File
	decl   declaration
	found  []edit
}

func (m *mutator) function(fn *ast.FuncDecl) {
	m.decl = m.declaration(fn)
	m.early(fn.Type, fn.Body)
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			m.early(n.Type, n.Body)
		case *ast.IfStmt:
			m.replace("negate", n.Cond, "!("+m.text(n.Cond)+")")
		case *ast.BinaryExpr:
			if s, ok := swapped[n.Op]; ok {
				m.add(s.operator, n.OpPos, n.OpPos+token.Pos(len(n.Op.String())), s.to)
			}
		case *ast.BasicLit:
			m.number(n)
		case *ast.Ident:
			m.boolean(n)
		case *ast.ReturnStmt:
			m.swallow(n)
		case *ast.DeferStmt:
			m.replace("defer", n, "")
			return true
		case *ast.BlockStmt:
			m.statements(n.List)
		case *ast.CaseClause:
			m.statements(n.Body)
		case *ast.CommClause:
			m.statements(n.Body)
		}
		return true
	})
}

// statements drops each call whose result nobody uses and each assignment to what exists.
func (m *mutator) statements(list []ast.Stmt) {
	for _, s := range list {
		switch s := s.(type) {
		case *ast.ExprStmt, *ast.IncDecStmt, *ast.SendStmt:
			m.replace("drop", s, "")
		case *ast.AssignStmt:
			if s.Tok != token.DEFINE && m.text(s.Lhs[0]) != "_" {
				m.replace("drop", s, "")
			}
		}
	}
}

// early lets a function return before its first statement, where what it returns needs no words.
func (m *mutator) early(t *ast.FuncType, body *ast.BlockStmt) {
	if len(body.List) == 0 {
		return
	}
	statement := "return; "
	if t.Results.NumFields() > 0 && len(t.Results.List[0].Names) == 0 {
		if t.Results.NumFields() > 1 || m.text(t.Results.List[0].Type) != "error" {
			return
		}
		statement = "return nil; "
	}
	if _, ok := body.List[0].(*ast.ReturnStmt); ok {
		return
	}
	m.add("early", body.List[0].Pos(), body.List[0].Pos(), statement)
}

// swallow returns no error where there is one.
func (m *mutator) swallow(s *ast.ReturnStmt) {
	if len(s.Results) == 0 {
		return
	}
	last := s.Results[len(s.Results)-1]
	if id, ok := last.(*ast.Ident); ok && id.Name == "err" {
		m.replace("swallow", id, "nil")
	}
}

func (m *mutator) number(n *ast.BasicLit) {
	if n.Kind != token.INT {
		return
	}
	if v, err := strconv.ParseInt(n.Value, 10, 64); err == nil {
		m.replace("number", n, strconv.FormatInt(v+1, 10))
	}
}

func (m *mutator) boolean(n *ast.Ident) {
	switch n.Name {
	case "true":
		m.replace("boolean", n, "false")
	case "false":
		m.replace("boolean", n, "true")
	}
}

func (m *mutator) replace(operator string, n ast.Node, text string) {
	m.add(operator, n.Pos(), n.End(), text)
}

func (m *mutator) add(operator string, from, to token.Pos, text string) {
	start, end := m.tokens.Offset(from), m.tokens.Offset(to)
	line, column := position(m.source, start)
	m.found = append(m.found, edit{
		File: m.file, Line: line, Column: column, Operator: operator,
		Start: start, End: end, Old: string(m.source[start:end]), New: text, Decl: m.decl,
	})
}

// position returns the line and the column of an offset, both from 1.
func position(source []byte, offset int) (line, column int) {
	before := source[:offset]
	return 1 + bytes.Count(before, []byte("\n")), offset - bytes.LastIndexByte(before, '\n')
}

func (m *mutator) text(n ast.Node) string {
	return string(m.source[m.tokens.Offset(n.Pos()):m.tokens.Offset(n.End())])
}

func (m *mutator) declaration(fn *ast.FuncDecl) declaration {
	name := fn.Name.Name
	if fn.Recv != nil && len(fn.Recv.List) > 0 {
		name = receiver(fn.Recv.List[0].Type) + "." + name
	}
	return declaration{Name: name, Start: m.tokens.Offset(fn.Pos()), Text: m.text(fn)}
}

// receiver returns the name of a receiver's type without its star and its parameters.
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return ""
}
