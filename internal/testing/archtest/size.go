package archtest

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
)

// Size is what a package has, without its tests.
type Size struct {
	// Package is its path in the module.
	Package      string
	Lines, Files int
	// Methods counts the methods of each type.
	Methods map[string]int
}

// Sizes returns the sizes of the packages in a folder and below it, by their paths.
func Sizes(tree fs.FS, folder string) ([]Size, error) {
	below, err := fs.Sub(tree, folder)
	if err != nil {
		return nil, err
	}
	all, err := sources(below, nil)
	if err != nil {
		return nil, err
	}
	var sizes []Size
	at := make(map[string]int)
	for _, s := range all {
		if s.test {
			continue
		}
		i, known := at[s.pkg]
		if !known {
			i = len(sizes)
			at[s.pkg] = i
			sizes = append(sizes, Size{Package: path.Join(folder, s.pkg), Methods: make(map[string]int)})
		}
		sizes[i].Files++
		sizes[i].Lines += bytes.Count(s.text, []byte("\n"))
		file, err := parser.ParseFile(token.NewFileSet(), s.file, s.text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Recv != nil {
				sizes[i].Methods[receiver(d.Recv.List[0].Type)]++
			}
		}
	}
	return sizes, nil
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
