package rest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"reflect"
	"strconv"
	"strings"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/comment"
)

// Comments gives the API the Go source of its handlers and of the types that they read and
// answer. A program embeds the source:
//
//	//go:embed *.go
//	var source embed.FS
//
//	api := rest.New(rest.Comments(source))
//
// The doc comment of a handler's method or function is then the description of its route, and
// the first sentence is the summary. [Summary] and [Description] take precedence. The name at
// the start is left out: "List returns all books" is "Returns all books", and "List answers with
// all books" is "All books".
//
// The first paragraph of a field's comment describes the field, without the words "Title is"
// at its start. The tag doc takes precedence. The comment of a field _ describes its struct.
//
// Comments reads all files whose names end in .go, but no tests. [New] panics if one of them
// is not Go. A program with types in several packages may prefer a [CommentTable].
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

// CommentTable gives the API the comments that [Comments] reads, for a program that does not
// embed its source. The table has them by "example.com/shop.Book.Title" for a field, and by
// "example.com/shop.Books.List" for the method of a handler. A command writes it:
//
//	//go:generate go run github.com/spoolhq/spool/rest/commenttable -o comments.go . ../store
//
//	api := rest.New(rest.CommentTable(comments))
//
// The tag docOf:"example.com/shop.Book.Title" describes a field as another one, for types that
// copy fields. Several tables add up. For the same name, the table of the last option counts.
func CommentTable(table map[string]string) APIOption {
	return apiOption(func(c *apiConfig) {
		if c.comments == nil {
			c.comments = map[string]string{}
		}
		maps.Copy(c.comments, table)
	})
}

// addComments adds the comments of a file by the names of their functions and fields:
// "shop.Books.list", and "Books.list" for a package whose name is not the end of its path. The
// second is empty if two packages have it.
func addComments(to map[string]string, file *ast.File) {
	add := func(name, text string) {
		to[file.Name.Name+"."+name] = text
		if _, twice := to[name]; twice {
			text = ""
		}
		to[name] = text
	}
	comment.Functions(file, func(name, text string, _ *ast.FuncDecl) { add(name, text) })
	comment.Fields(file, add)
}

// comment returns the doc comment of the route's handler, or "".
func (rt *route) comment() string {
	return rt.api.config.comment(strings.NewReplacer("(*", "", "(", "", ")", "").Replace(rt.entry.config.function))
}

// comment returns a comment by its name with the path of the package, or "".
func (c *apiConfig) comment(name string) string {
	if name == "" {
		return ""
	}
	if text := c.comments[name]; text != "" {
		return text
	}
	name = name[strings.LastIndexByte(name, '/')+1:]
	if text := c.comments[name]; text != "" {
		return text
	}
	_, name, _ = strings.Cut(name, ".")
	return c.comments[name]
}

// told returns the parameter with the comment of its field, if the field has no tag doc.
func (c *apiConfig) told(p bind.Param) bind.Param {
	if p.Doc != "" {
		return p
	}
	if p.Doc = c.comment(comment.Key(p.Owner, p.Field)); p.Doc != "" {
		p.Field.Tag += reflect.StructTag(` doc:` + strconv.Quote(p.Doc)) // for the schema
	}
	return p
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
