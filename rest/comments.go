package rest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Comments gives the API the Go source of its handlers. The doc comment of a handler's method or
// function is then the description of its route, and the first sentence is the summary. A
// program embeds the source:
//
//	//go:embed *.go
//	var source embed.FS
//
//	api := rest.New(rest.Comments(source))
//
// Comments reads all files whose names end in .go, but no tests. [New] panics if one of them
// is not Go. [Summary] and [Description] take precedence.
func Comments(source fs.FS) APIOption {
	return apiOption(func(c *apiConfig) {
		if c.comments == nil {
			c.comments = map[string]string{}
		}
		must(fs.WalkDir(source, ".", func(file string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := fs.ReadFile(source, file)
			if err != nil {
				return err //nolint:wrapcheck // it names the file
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				return fmt.Errorf("parse the source: %w", err)
			}
			addComments(c.comments, parsed)
			return nil
		}), "rest.Comments")
	})
}

// addComments adds the doc comments of a file by the names of their functions: "shop.Books.list",
// and "Books.list" for a package whose name is not the end of its path. The second is empty if
// two packages have it.
func addComments(to map[string]string, file *ast.File) {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Doc == nil {
			continue
		}
		name := f.Name.Name
		if f.Recv != nil && len(f.Recv.List) == 1 {
			name = receiver(f.Recv.List[0].Type) + "." + name
		}
		text := withoutName(f.Doc.Text(), f.Name.Name)
		to[file.Name.Name+"."+name] = text
		if _, twice := to[name]; twice {
			text = ""
		}
		to[name] = text
	}
}

// receiver returns the name of a receiver's type.
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
	default:
		return ""
	}
}

// withoutName returns a doc comment without the name that it begins with: "Returns all books"
// for "list returns all books".
func withoutName(text, name string) string {
	text = strings.TrimSpace(text)
	left, ok := strings.CutPrefix(text, name+" ")
	if !ok {
		return text
	}
	first, size := utf8.DecodeRuneInString(left)
	return string(unicode.ToUpper(first)) + left[size:]
}

// comment returns the doc comment of the route's handler, or "".
func (rt *route) comment() string {
	name := rt.entry.config.function
	name = strings.NewReplacer("(*", "", "(", "", ")", "").Replace(name[strings.LastIndexByte(name, '/')+1:])
	if text := rt.api.config.comments[name]; text != "" {
		return text
	}
	_, name, _ = strings.Cut(name, ".")
	return rt.api.config.comments[name]
}

// longSummary is the length from which a sentence is too long for a list of operations.
const longSummary = 120

// firstSentence returns the first sentence of a description as a summary, without its full
// stop. It returns "" if the sentence is too long, or is not plain text.
func firstSentence(description string) string {
	text, _, _ := strings.Cut(strings.TrimSpace(description), "\n\n")
	text = strings.Join(strings.Fields(text), " ")
	if at := strings.Index(text, ". "); at >= 0 {
		text = text[:at]
	}
	text = strings.TrimSuffix(text, ".")
	if len(text) > longSummary || strings.ContainsAny(text, "*`[#|<") {
		return ""
	}
	return text
}
