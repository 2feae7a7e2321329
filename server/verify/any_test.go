package verify_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spoolhq/spool/server/verify"
)

var (
	errOne = errors.New("one refuses")
	errTwo = errors.New("two refuses")
)

// verdict is a verifier that says the same to everything.
type verdict struct{ err error }

func (v verdict) Verify(*http.Request, []byte) error { return v.err }

// headed is a verdict about headers and another one about the whole delivery.
type headed struct {
	verdict

	header error
}

func (h headed) VerifyHeader(*http.Request) error { return h.header }

func TestAny(t *testing.T) {
	t.Parallel()

	good, one, two := headed{}, headed{verdict{errOne}, errOne}, headed{verdict{errTwo}, errTwo}
	for name, c := range map[string]struct {
		verifiers []verify.Verifier
		want      string
	}{
		"None":   {nil, "there is no verifier"},
		"First":  {[]verify.Verifier{good, one}, ""},
		"Second": {[]verify.Verifier{one, good}, ""},
		"All":    {[]verify.Verifier{one, two}, "one refuses; two refuses"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v := verify.Any(c.verifiers...)
			h, ok := v.(verify.HeaderVerifier)
			if !ok {
				t.Fatal("Any of verifiers that judge headers does not")
			}
			for of, err := range map[string]error{
				"Verify": v.Verify(&http.Request{}, nil), "VerifyHeader": h.VerifyHeader(&http.Request{}),
			} {
				if text := message(err); text != c.want {
					t.Errorf("%s = %q, want %q", of, text, c.want)
				}
				if name == "All" && (!errors.Is(err, errOne) || !errors.Is(err, errTwo)) {
					t.Errorf("%s: what is behind %v is lost", of, err)
				}
			}
		})
	}
	if _, ok := verify.Any(one, verdict{}).(verify.HeaderVerifier); ok {
		t.Error("Any judges headers although one of its verifiers needs the body")
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// Where a scheme compares what is secret itself, nothing that ends early may do it.
func TestConstantTime(t *testing.T) {
	t.Parallel()

	early := []string{
		"bytes.Equal", "bytes.Compare", "slices.Equal", "strings.Compare", "strings.EqualFold", "reflect.DeepEqual",
	}
	for _, scheme := range []string{"webhook", "qstash", "secret"} {
		files, err := filepath.Glob(scheme + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		compares := 0
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				called := callee(n)
				if slices.Contains(early, called) {
					t.Errorf("%s calls %s", file, called)
				}
				if called == "subtle.ConstantTimeCompare" {
					compares++
				}
				return true
			})
		}
		if compares == 0 {
			t.Errorf("%s compares nothing in constant time", scheme)
		}
	}
}

// callee returns "package.Function" for a call of one.
func callee(n ast.Node) string {
	call, ok := n.(*ast.CallExpr)
	if !ok {
		return ""
	}
	selector, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	pkg, ok := selector.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return pkg.Name + "." + selector.Sel.Name
}
