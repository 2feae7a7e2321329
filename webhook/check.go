package webhook

import (
	"fmt"
	"slices"
	"strings"
	"text/template/parse"

	"github.com/spoolhq/spool"
)

const (
	// maxTemplate is the size of the largest template, in bytes.
	maxTemplate = 10_000
	// maxNodes is how many parts a template has at the most. With 16 labels and two nested ranges, a rendering takes at
	// most 256 times as many steps.
	maxNodes = 1_000
	// maxDepth is how deep parts are nested, and maxRanges how deep ranges are.
	maxDepth  = 40
	maxRanges = 2
)

// allowed are the functions that a template may call. Those of text/template that are not here make texts longer, in
// steps that the bound of the output does not see, or call what they are given.
var allowed = []string{
	"and", "or", "not", "eq", "ne", "lt", "le", "gt", "ge", "len", "index", // of text/template
	"json", "truncate",
}

// lists are what a template may range over. All else may be a number, which may be any.
var lists = []string{".data.labels", "$.data.labels"}

// parseTemplate returns a template if it has nothing in it that could take long: text/template cannot be stopped.
func parseTemplate(text string) (*checked, error) {
	if text == "" {
		return nil, spool.Errorf(spool.Invalid, "template is required")
	}
	if len(text) > maxTemplate {
		return nil, spool.Errorf(spool.Invalid, "template is larger than %d bytes", maxTemplate)
	}
	tree := parse.New(templateName)
	tree.Mode = parse.SkipFuncCheck // the walk tells where the function is
	trees := make(map[string]*parse.Tree)
	tree, err := tree.Parse(text, "", "", trees)
	if err != nil {
		return nil, templateError(err)
	}
	for _, other := range trees {
		if other != tree {
			return nil, problem(other, other.Root, "define and block are not allowed")
		}
	}
	w := &walk{tree: tree}
	if err := w.node(tree.Root, 0, 0); err != nil {
		return nil, err
	}
	return &checked{tree}, nil
}

// walk goes through the parts of a template.
type walk struct {
	tree  *parse.Tree
	nodes int
}

// problem returns an error with the place of a part and its beginning.
func problem(tree *parse.Tree, n parse.Node, format string, args ...any) error {
	at, part := tree.ErrorContext(n)
	line, column, _ := strings.Cut(strings.TrimPrefix(at, templateName+":"), ":")
	return spool.Errorf(spool.Invalid, "template: %s: at <%s>: %s", place(line, column), cut(part, maxPart),
		fmt.Sprintf(format, args...))
}

// node checks a part and all below it.
func (w *walk) node(n parse.Node, depth, ranges int) error {
	if w.nodes++; w.nodes > maxNodes {
		return spool.Errorf(spool.Invalid, "template has more than %d parts", maxNodes)
	}
	if depth > maxDepth {
		return problem(w.tree, n, "parts are nested deeper than %d", maxDepth)
	}
	below := func(nodes ...parse.Node) error {
		for _, b := range nodes {
			if err := w.node(b, depth+1, ranges); err != nil {
				return err
			}
		}
		return nil
	}
	switch n := n.(type) {
	case *parse.ListNode:
		return below(n.Nodes...)
	case *parse.ActionNode:
		return below(n.Pipe)
	case *parse.IfNode:
		return w.branch(&n.BranchNode, depth, ranges)
	case *parse.WithNode:
		return w.branch(&n.BranchNode, depth, ranges)
	case *parse.RangeNode:
		if !slices.Contains(lists, rangedOver(n.Pipe)) {
			return problem(w.tree, n, "range goes over %s only", strings.Join(lists, " and "))
		}
		if ranges == maxRanges {
			return problem(w.tree, n, "ranges are nested deeper than %d", maxRanges)
		}
		return w.branch(&n.BranchNode, depth, ranges+1)
	case *parse.PipeNode:
		for _, v := range n.Decl {
			if err := below(v); err != nil {
				return err
			}
		}
		for _, c := range n.Cmds {
			if err := below(c); err != nil {
				return err
			}
		}
	case *parse.CommandNode:
		return below(n.Args...)
	case *parse.ChainNode:
		return below(n.Node)
	case *parse.IdentifierNode:
		if !slices.Contains(allowed, n.Ident) {
			return problem(w.tree, n, "%s is no function of a webhook's template; there are %s", n.Ident,
				strings.Join(allowed, ", "))
		}
	case *parse.TextNode, *parse.CommentNode, *parse.BoolNode, *parse.DotNode, *parse.FieldNode, *parse.NilNode,
		*parse.NumberNode, *parse.StringNode, *parse.VariableNode, *parse.BreakNode, *parse.ContinueNode:
	default: // a call of another template, and what a later version of the language adds
		return problem(w.tree, n, "this is not allowed")
	}
	return nil
}

// branch checks an if, a with or a range.
func (w *walk) branch(n *parse.BranchNode, depth, ranges int) error {
	if err := w.node(n.Pipe, depth+1, ranges); err != nil {
		return err
	}
	if err := w.node(n.List, depth+1, ranges); err != nil || n.ElseList == nil {
		return err
	}
	return w.node(n.ElseList, depth+1, ranges)
}

// rangedOver returns the path that a pipeline is, or "" for any other pipeline.
func rangedOver(p *parse.PipeNode) string {
	if len(p.Cmds) != 1 || len(p.Cmds[0].Args) != 1 {
		return ""
	}
	switch n := p.Cmds[0].Args[0].(type) {
	case *parse.FieldNode, *parse.VariableNode:
		return n.String()
	}
	return ""
}
