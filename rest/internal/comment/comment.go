// Package comment reads the texts of an API's document from the comments of Go source.
package comment

import (
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Functions calls add with the names of the functions and methods that have a doc comment, such as "Books.List", and
// with their texts: the comments without the name that they begin with, or without the words "List answers with".
func Functions(file *ast.File, add func(name, text string, f *ast.FuncDecl)) {
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
		if left, ok := strings.CutPrefix(text, "Answers with "); ok {
			text = upper(left)
		}
		add(name, text, f)
	}
}

// sources are the tags that make a field a part of a request or an answer.
var sources = []string{"json", "path", "query", "filter", "header", "cookie", "form", "file"}

// Fields calls add with the names of the fields that have a comment, such as "Book.Title", and with their texts. Only
// structs count in which a field has the tag of a source, or the name _. The field _ has the text of its struct.
func Fields(file *ast.File, add func(name, text string)) {
	for _, d := range file.Decls {
		declared, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range declared.Specs {
			spec, ok := s.(*ast.TypeSpec)
			if !ok {
				continue
			}
			if of, ok := spec.Type.(*ast.StructType); ok && slices.ContainsFunc(of.Fields.List, isOfAPI) {
				fieldsOf(spec.Name.Name, of, add)
			}
		}
	}
}

// isOfAPI reports whether a field shows that its struct is one of the API.
func isOfAPI(f *ast.Field) bool {
	tag := tagOf(f)
	return len(f.Names) == 1 && f.Names[0].Name == "_" ||
		slices.ContainsFunc(sources, func(name string) bool { return tag.Get(name) != "" })
}

func tagOf(f *ast.Field) reflect.StructTag {
	if f.Tag == nil {
		return ""
	}
	text, _ := strconv.Unquote(f.Tag.Value) // the parser has accepted it
	return reflect.StructTag(text)
}

func fieldsOf(in string, of *ast.StructType, add func(name, text string)) {
	for _, f := range of.Fields.List {
		for _, name := range f.Names {
			if name.Name != "_" && !name.IsExported() || tagOf(f).Get("json") == "-" && !hasOther(f) {
				continue
			}
			if text := Field(f, name.Name); text != "" {
				add(in+"."+name.Name, text)
			}
		}
	}
}

// hasOther reports whether a field that is in no body has another source.
func hasOther(f *ast.Field) bool {
	tag := tagOf(f)
	return slices.ContainsFunc(sources[1:], func(name string) bool { return tag.Get(name) != "" })
}

// link is a doc link in a comment.
var link = regexp.MustCompile(`\[(\*?(?:\w+\.)*[A-Z]\w*)\]`)

// Field returns the text of a field: the first paragraph of the comment above it, or the comment behind it. A text
// that begins with "Title is" lacks these words, one that
// begins with "Title has" the first, and doc links lack their brackets.
func Field(f *ast.Field, name string) string {
	doc := f.Doc
	if doc == nil {
		doc = f.Comment
	}
	text, _, _ := strings.Cut(strings.TrimSpace(doc.Text()), "\n\n")
	text = link.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
	for _, verb := range []string{" is ", " are "} {
		if left, ok := strings.CutPrefix(text, name+verb); ok {
			return upper(left)
		}
	}
	if verb, _, _ := strings.Cut(strings.TrimPrefix(text, name+" "), " "); !strings.HasSuffix(verb, "s") {
		return text // the name may be a word of the sentence
	}
	return withoutName(text, name)
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
	if left, ok := strings.CutPrefix(text, name+" "); ok {
		return upper(left)
	}
	return text
}

func upper(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
