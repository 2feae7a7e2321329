package permission_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/spoolhq/spool/rest"
	"github.com/spoolhq/spool/rest/permission"
)

// Book and Author are what the rules of these tests are about.
type (
	Book   struct{ Owner string }
	Author struct{ Owner string }
)

// probe is a permission that answers as it is told and keeps the order in which those of one
// case are asked.
type probe struct {
	name  string
	err   error
	asked *[]string
}

func (p *probe) Check(context.Context) error {
	*p.asked = append(*p.asked, p.name)
	return p.err
}

// objectProbe is a probe with a rule about books.
type objectProbe struct {
	probe

	objectErr error
}

func (*objectProbe) AppliesTo(t reflect.Type) bool { return t == reflect.TypeFor[*Book]() }

func (p *objectProbe) CheckObject(context.Context, any) error {
	*p.asked = append(*p.asked, p.name+"*")
	return p.objectErr
}

var errFault = errors.New("the database is away")

// outcome is what a permission said: "yes", "no" for the usual refusal, the
// detail of another one, or "fault".
func outcome(err error) string {
	var e *rest.Error
	switch {
	case err == nil:
		return "yes"
	case errors.As(err, &e) && e.Status == http.StatusForbidden:
		if e.Detail == rest.Denied("").Detail {
			return "no"
		}
		return e.Detail
	case errors.Is(err, errFault):
		return "fault"
	default:
		return err.Error()
	}
}

// members builds probes a, b and c of the words "yes", "no" and "fault".
func members(asked *[]string, words ...string) []rest.Permission {
	all := make([]rest.Permission, len(words))
	for i, word := range words {
		name := string(rune('a' + i))
		all[i] = &probe{name: name, err: said(name, word), asked: asked}
	}
	return all
}

func said(name, word string) error {
	switch word {
	case "yes":
		return nil
	case "no":
		return rest.Denied("no of " + name)
	case "unknown":
		return &rest.Error{Status: http.StatusUnauthorized, Detail: "401 of " + name}
	default:
		return fmt.Errorf("ask %s: %w", name, errFault)
	}
}

func TestRequests(t *testing.T) {
	t.Parallel()

	all := permission.All
	anyOf := permission.Any
	not := func(p ...rest.Permission) rest.Permission { return permission.Not(p[0]) }
	for _, test := range []struct {
		name    string
		combine func(...rest.Permission) rest.Permission
		members string
		want    string
		asked   string
	}{
		{"all", all, "yes", "yes", "a"},
		{"all", all, "no", "no of a", "a"},
		{"all", all, "yes,yes", "yes", "a b"},
		{"all", all, "yes,no", "no of b", "a b"},
		{"all", all, "no,yes", "no of a", "a"},
		{"all", all, "no,no", "no of a", "a"},
		{"all", all, "fault,yes", "fault", "a"},
		{"all", all, "yes,fault", "fault", "a b"},
		{"all", all, "no,fault", "no of a", "a"},
		{"all", all, "fault,no", "fault", "a"},

		{"any", anyOf, "yes", "yes", "a"},
		{"any", anyOf, "no", "no of a", "a"},
		{"any", anyOf, "yes,yes", "yes", "a"},
		{"any", anyOf, "yes,no", "yes", "a"},
		{"any", anyOf, "no,yes", "yes", "a b"},
		{"any", anyOf, "no,no", "no of b", "a b"},
		{"any", anyOf, "no,no,no", "no of c", "a b c"},
		{"any", anyOf, "fault,yes", "fault", "a"},
		{"any", anyOf, "no,fault", "fault", "a b"},
		{"any", anyOf, "yes,fault", "yes", "a"},

		{"not", not, "yes", "no", "a"},
		{"not", not, "no", "yes", "a"},
		{"not", not, "fault", "fault", "a"},

		{"all of any", func(p ...rest.Permission) rest.Permission {
			return permission.All(permission.Any(p[0], p[1]), p[2])
		}, "no,yes,no", "no of c", "a b c"},
		{"any of all", func(p ...rest.Permission) rest.Permission {
			return permission.Any(permission.All(p[0], p[1]), p[2])
		}, "no,yes,yes", "yes", "a c"},
		{"not of any", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.Any(p...))
		}, "no,no", "yes", "a b"},
		{"not of any", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.Any(p...))
		}, "no,yes", "no", "a b"},
		{"not of all", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.All(p...))
		}, "yes,no", "yes", "a b"},
		{"not of a not", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.Not(p[0]))
		}, "yes", "yes", "a"},
		{"not of a not", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.Not(p[0]))
		}, "no", "no", "a"},
		{"a message", func(p ...rest.Permission) rest.Permission {
			return permission.WithMessage(p[0], "only here")
		}, "no", "only here", "a"},
		{"a message of a fault", func(p ...rest.Permission) rest.Permission {
			return permission.WithMessage(p[0], "only here")
		}, "fault", "fault", "a"},
		{"a message of not", func(p ...rest.Permission) rest.Permission {
			return permission.WithMessage(permission.Not(p[0]), "only here")
		}, "yes", "only here", "a"},
		{"not of a message", func(p ...rest.Permission) rest.Permission {
			return permission.Not(permission.WithMessage(p[0], "only here"))
		}, "no", "yes", "a"},
		{"a 401 is a refusal", anyOf, "unknown,yes", "yes", "a b"},
		{"a 401 is a refusal", not, "unknown", "yes", "a"},
	} {
		t.Run(test.name+" "+test.members, func(t *testing.T) {
			t.Parallel()
			var asked []string
			p := test.combine(members(&asked, strings.Split(test.members, ",")...)...)
			for range 2 { // the second time is as the first
				asked = nil
				if got := outcome(p.Check(t.Context())); got != test.want {
					t.Errorf("%s, want %s", got, test.want)
				}
				if got := strings.Join(asked, " "); got != test.asked {
					t.Errorf("asked %q, want %q", got, test.asked)
				}
			}
			if _, ok := p.(rest.ObjectPermission); ok {
				t.Error("it claims to judge objects")
			}
		})
	}
}

// TestObjects has a combination of a member without rule about objects, r, and one with such
// a rule, o. Each case says what r says of the request, and what o says of the request and
// the object.
func TestObjects(t *testing.T) {
	t.Parallel()

	type made = func(r, o rest.Permission) rest.Permission
	all := func(r, o rest.Permission) rest.Permission { return permission.All(r, o) }
	anyOf := func(r, o rest.Permission) rest.Permission { return permission.Any(r, o) }
	notBoth := func(r, o rest.Permission) rest.Permission { return permission.Not(permission.All(r, o)) }
	neither := func(r, o rest.Permission) rest.Permission { return permission.Not(permission.Any(r, o)) }
	neitherTurned := func(r, o rest.Permission) rest.Permission { return permission.Not(permission.Any(o, r)) }
	allInAny := func(r, o rest.Permission) rest.Permission {
		maybe := permission.Object(func(context.Context, *Book) error { return rest.Denied("no of the other") })
		return permission.Any(permission.All(r, o), maybe)
	}
	not := func(_, o rest.Permission) rest.Permission { return permission.Not(o) }
	notNot := func(_, o rest.Permission) rest.Permission { return permission.Not(permission.Not(o)) }
	for _, test := range []struct {
		name    string
		combine made
		r, o    string // o is what it says of the request, and of the object
		request string
		object  string
	}{
		{"all", all, "yes", "yes,yes", "yes", "yes"},
		{"all", all, "yes", "yes,no", "yes", "no of o*"},
		{"all", all, "yes", "no,yes", "no of o", ""},
		{"all", all, "no", "yes,yes", "no of r", ""},
		{"all", all, "yes", "yes,fault", "yes", "fault"},

		{"any", anyOf, "yes", "yes,yes", "yes", "yes"},
		{"any", anyOf, "yes", "yes,no", "yes", "yes"},
		{"any", anyOf, "yes", "no,no", "yes", "yes"},
		{"any", anyOf, "no", "yes,yes", "yes", "yes"},
		{"any", anyOf, "no", "yes,no", "yes", "no of o*"},
		{"any", anyOf, "no", "no,yes", "no of o", ""},
		{"any", anyOf, "no", "yes,fault", "yes", "fault"},
		{"any", anyOf, "yes", "yes,fault", "yes", "yes"},
		{"any", anyOf, "fault", "yes,yes", "fault", ""},

		{"not", not, "", "yes,yes", "yes", "no"},
		{"not", not, "", "yes,no", "yes", "yes"},
		{"not", not, "", "no,yes", "yes", "yes"},
		{"not", not, "", "no,no", "yes", "yes"},
		{"not", not, "", "yes,fault", "yes", "fault"},
		{"not", not, "", "fault,yes", "fault", ""},

		{"a not of not", notNot, "", "yes,yes", "yes", "yes"},
		{"a not of not", notNot, "", "yes,no", "yes", "no"},
		{"a not of not", notNot, "", "no,yes", "no", ""},

		{"not all", notBoth, "yes", "yes,yes", "yes", "no"},
		{"not all", notBoth, "yes", "yes,no", "yes", "yes"},
		{"not all", notBoth, "no", "yes,yes", "yes", "yes"},
		{"not all", notBoth, "no", "fault,fault", "yes", "yes"},

		// Whoever r allows may do nothing at all, so that is said at once.
		{"not any", neither, "yes", "yes,no", "no", ""},
		{"not any", neither, "no", "yes,yes", "yes", "no"},
		{"not any", neither, "no", "yes,no", "yes", "yes"},
		{"not any", neither, "no", "no,yes", "yes", "yes"},
		{"not any, turned", neitherTurned, "yes", "yes,no", "no", ""},
		{"not any, turned", neitherTurned, "no", "yes,no", "yes", "yes"},

		// What another member let through is not what this one did.
		{"all in any", allInAny, "yes", "yes,yes", "yes", "yes"},
		{"all in any", allInAny, "no", "yes,yes", "yes", "no of the other"},
		{"all in any", allInAny, "yes", "no,yes", "yes", "no of the other"},
		{"all in any", allInAny, "yes", "yes,no", "yes", "no of the other"},
		{"all in any", allInAny, "fault", "yes,yes", "fault", ""},
	} {
		t.Run(fmt.Sprintf("%s %s, %s", test.name, test.r, test.o), func(t *testing.T) {
			t.Parallel()
			var asked []string
			words := strings.Split(test.o, ",")
			r := &probe{name: "r", err: said("r", test.r), asked: &asked}
			o := &objectProbe{probe: probe{name: "o", err: said("o", words[0]), asked: &asked}, objectErr: said("o*", words[1])}
			p := test.combine(r, o)
			if got := outcome(p.Check(t.Context())); got != test.request {
				t.Fatalf("of the request: %s, want %s", got, test.request)
			}
			if test.request != "yes" {
				return
			}
			judge, ok := p.(rest.ObjectPermission)
			if !ok || !judge.AppliesTo(reflect.TypeFor[*Book]()) {
				t.Fatal("it does not judge books")
			}
			if judge.AppliesTo(reflect.TypeFor[*Author]()) || judge.AppliesTo(nil) {
				t.Error("it claims to judge what is no book")
			}
			if got := outcome(judge.CheckObject(t.Context(), &Book{})); got != test.object {
				t.Errorf("of the object: %s, want %s", got, test.object)
			}
		})
	}
}

// TestObjectsOfManyTypes has rules about different types: only those of the object's count.
func TestObjectsOfManyTypes(t *testing.T) {
	t.Parallel()

	bookYes := permission.Object(func(context.Context, *Book) error { return nil })
	bookNo := permission.Object(func(context.Context, *Book) error { return rest.Denied("no of book") })
	authorYes := permission.Object(func(context.Context, *Author) error { return nil })
	authorNo := permission.Object(func(context.Context, *Author) error { return rest.Denied("no of author") })
	refuses := permission.If(func(context.Context) bool { return false })
	for name, test := range map[string]struct {
		permission   rest.Permission
		book, author string
	}{
		"any":                {permission.Any(bookYes, authorNo), "yes", "no of author"},
		"any, the other way": {permission.Any(bookNo, authorYes), "no of book", "yes"},
		"all":                {permission.All(bookYes, authorNo), "yes", "no of author"},
		"not in any":         {permission.Any(permission.Not(bookYes), authorNo), "no", "no of author"},
		"any in all":         {permission.All(permission.Any(refuses, bookNo), authorYes), "no of book", "yes"},
		"all in any": {
			permission.Any(permission.All(bookNo, permission.AllowAny), authorNo), "no of book", "no of author",
		},
		"all refuses in any": {
			permission.Any(permission.All(refuses, bookYes), permission.All(bookNo, authorYes)), "no of book", "yes",
		},
		"a message in any": {permission.Any(permission.WithMessage(bookNo, "x"), authorYes), "x", "yes"},
		"scopes open nothing": {
			permission.Any(permission.ListScope[Book](nothing), bookNo, authorNo), "no of book", "no of author",
		},
		"any in any": {
			permission.Any(permission.Any(permission.AllowAny, bookNo), authorNo), "yes", "yes",
		},
		"admins see them all":  {permission.Any(permission.AllowAny, bookNo, authorNo), "yes", "yes"},
		"not of a plain one":   {permission.All(permission.Not(refuses), bookYes, authorNo), "yes", "no of author"},
		"not of a plain below": {permission.Any(permission.Not(permission.AllowAny), bookNo, authorYes), "no of book", "yes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := test.permission.Check(t.Context()); err != nil {
				t.Fatalf("of the request: %v", err)
			}
			judge, ok := test.permission.(rest.ObjectPermission)
			if !ok {
				t.Fatal("it judges no objects")
			}
			if got := outcome(judge.CheckObject(t.Context(), &Book{})); got != test.book {
				t.Errorf("of a book: %s, want %s", got, test.book)
			}
			if got := outcome(judge.CheckObject(t.Context(), &Author{})); got != test.author {
				t.Errorf("of an author: %s, want %s", got, test.author)
			}
		})
	}
}

// TestObjectsAreAskedAsLittleAsNeeded proves that what decides ends the questions.
func TestObjectsAreAskedAsLittleAsNeeded(t *testing.T) {
	t.Parallel()

	var asked []string
	rule := func(name, word string) rest.Permission {
		return &objectProbe{probe: probe{name: name, asked: &asked}, objectErr: said(name, word)}
	}
	for name, test := range map[string]struct {
		permission rest.Permission
		want       []string
	}{
		"all": {permission.All(rule("a", "no"), rule("b", "yes")), []string{"a*"}},
		"any": {permission.Any(rule("a", "yes"), rule("b", "yes")), []string{"a", "a*"}},
		"both of any": {
			permission.Any(rule("a", "no"), rule("b", "yes"), rule("c", "yes")),
			[]string{"a", "a*", "b", "b*"},
		},
	} {
		asked = nil
		judge, ok := test.permission.(rest.ObjectPermission)
		if !ok {
			t.Fatalf("%s judges no objects", name)
		}
		_ = judge.CheckObject(t.Context(), &Book{})
		if diff := cmp.Diff(test.want, asked); diff != "" {
			t.Errorf("%s asked (-want +got):\n%s", name, diff)
		}
	}
}

func TestCheckObjectOfAnotherType(t *testing.T) {
	t.Parallel()

	rule := permission.All(permission.AllowAny, permission.Owner(func(b *Book) string { return b.Owner }))
	judge, ok := rule.(rest.ObjectPermission)
	if !ok {
		t.Fatal("it judges no objects")
	}
	for _, object := range []any{&Author{}, nil, "text"} {
		if err := judge.CheckObject(t.Context(), object); err == nil || outcome(err) == "no" {
			t.Errorf("of a %T: %v, want an error that is no refusal", object, err)
		}
	}
}

func TestRefusalsAreOnesOwn(t *testing.T) {
	t.Parallel()

	// A refusal that somebody changes is not seen by the next request.
	body := map[string]string{"code": "E1"}
	for _, p := range []rest.Permission{
		permission.IsAdmin, permission.Scope("books:write"), permission.Not(permission.AllowAny),
		permission.WithMessage(permission.IsAdmin, "x"), permission.WithBody(permission.IsAdmin, body),
		permission.Any(permission.IsAdmin, permission.IsAuthenticated),
	} {
		var first, second *rest.Error
		if !errors.As(p.Check(t.Context()), &first) || !errors.As(p.Check(t.Context()), &second) {
			t.Fatalf("%v refuses with no rest.Error", p)
		}
		if first == second {
			t.Errorf("%v refuses two requests with the same error", p)
		}
		if first.Status != http.StatusForbidden {
			t.Errorf("%v refuses with %d", p, first.Status)
		}
	}
}

func TestCombineRefusesToBuild(t *testing.T) {
	t.Parallel()

	for name, build := range map[string]func(){
		"all of none":      func() { permission.All() },
		"any of none":      func() { permission.Any() },
		"nil in all":       func() { permission.All(permission.AllowAny, nil) },
		"not of nil":       func() { permission.Not(nil) },
		"a message of nil": func() { permission.WithMessage(nil, "x") },
		"no scope":         func() { permission.Scope("") },
		"no func":          func() { permission.Func(nil) },
		"no if":            func() { permission.If(nil) },
		"no object":        func() { permission.Object[Book](nil) },
		"no owner":         func() { permission.Owner[Book](nil) },
		"no list scope":    func() { permission.ListScope[Book](nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			build()
		})
	}
}

func TestAllowingAllocatesNothing(t *testing.T) { //nolint:paralleltest // AllocsPerRun counts what others allocate too
	admin := rest.WithPrincipal(t.Context(), &rest.User{ID: "ada", Admin: true, Scopes: []string{"books:write"}})
	book := &Book{Owner: "ada"}
	owner := permission.Owner(func(b *Book) string { return b.Owner })
	stranger := rest.WithPrincipal(t.Context(), &rest.User{ID: "ada"})
	for name, test := range map[string]struct {
		ctx context.Context
		p   rest.Permission
	}{
		"rule":  {admin, permission.IsAdmin},
		"scope": {admin, permission.Scope("books:write")},
		"if":    {admin, permission.If(func(context.Context) bool { return true })},
		"all": {
			admin, permission.All(permission.IsAuthenticated, permission.IsAdmin, permission.Scope("books:write")),
		},
		"any, second": {stranger, permission.Any(permission.IsAdmin, permission.Scope("x"), permission.IsAuthenticated)},
		"not":         {stranger, permission.Not(permission.IsAdmin)},
		"deep": {
			stranger,
			permission.All(permission.Not(permission.Any(permission.IsAdmin, permission.Scope("x"))),
				permission.IsAuthenticated),
		},
		"owner":         {stranger, owner},
		"any of owners": {stranger, permission.Any(permission.IsAdmin, owner)},
	} {
		judge, judges := test.p.(rest.ObjectPermission)
		got := testing.AllocsPerRun(100, func() {
			if err := test.p.Check(test.ctx); err != nil {
				t.Error(err)
			}
			if judges {
				if err := judge.CheckObject(test.ctx, book); err != nil {
					t.Error(err)
				}
			}
		})
		if got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

func BenchmarkCombined(b *testing.B) {
	ctx := rest.WithPrincipal(b.Context(), &rest.User{ID: "ada"})
	p := permission.All(permission.IsAuthenticated,
		permission.Any(permission.IsAdmin, permission.Not(permission.Scope("x"))))
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Check(ctx); err != nil {
			b.Fatal(err)
		}
	}
}
