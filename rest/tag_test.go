package rest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/spoolhq/spool/rest"
)

// registered returns the words with which a route with such an input is refused.
func registered[In, Out any]() (words string) {
	defer func() {
		if cause := recover(); cause != nil {
			words = fmt.Sprint(cause)
		}
	}()
	path := "/things"
	if strings.Contains(fmt.Sprintf("%T", *new(In)), "path:") {
		path += "/{id}"
	}
	serve(func(r *rest.Routes) {
		rest.Post(r, path, func(context.Context, In) (o Out, err error) { return o, nil })
	})
	return ""
}

// checkedByOther has tags of another library, which its method may use.
type checkedByOther struct {
	Title string `json:"title" validate:"max=40"`
	Lines []struct {
		Price int `binding:"required" json:"price"`
	} `json:"lines"`
}

func (checkedByOther) Validate(context.Context) error { return nil }

type tagTree struct {
	Next  *tagTree             `json:"next,omitempty"`
	Named map[string][]tagLeaf `json:"named,omitempty"`
}

type tagLeaf struct {
	Text rest.Opt[struct {
		Of string `MaxLength:"3" json:"of"`
	}] `json:"text,omitzero"`
}

// Tags that look as if they did something and do nothing refuse to register, and say what to write.
func TestTagsThatMeanNothing(t *testing.T) {
	t.Parallel()

	type none = rest.NoContent
	for name, c := range map[string]struct {
		got  string
		want []string
	}{
		"case of a source": {registered[struct {
			Q string `Query:"q"`
		}, none](), []string{`.Q: the tag Query:"q" means nothing: write query:"q"`}},
		"case of json": {registered[struct {
			Body struct {
				X string `JSON:"x"`
			}
		}, none](), []string{`.Body.X: the tag JSON:"x" means nothing: write json:"x"`}},
		"case of a limit": {registered[struct {
			Q string `maxlength:"3" query:"q"`
		}, none](), []string{`.Q: the tag maxlength:"3" means nothing: write maxLength:"3"`}},
		"separators": {registered[struct {
			Q string `max_length:"3" query:"q"`
		}, none](), []string{`write maxLength:"3"`}},
		"uri": {registered[struct {
			ID int `path:"id" uri:"id"`
		}, none](), []string{`.ID: the tag uri:"id" is of another library`, `write path:"id"`}},
		"param": {registered[struct {
			ID int `param:"id"`
		}, none](), []string{`.ID: the tag param:"id"`, `write path:"id"`}},
		"validate": {registered[struct {
			Q string `query:"q" validate:"required"`
		}, none](), []string{`.Q: the tag validate:"required"`, `required:"true"`, "Validate(context.Context) error"}},
		"binding in a body": {registered[struct {
			Body []struct {
				X string `binding:"required" json:"x"`
			}
		}, none](), []string{`.Body.X: the tag binding:"required"`, `required:"true"`}},
		"whole body": {registered[struct {
			X string `binding:"required" json:"x"`
		}, none](), []string{`.X: the tag binding:"required"`}},
		"among parameters": {registered[struct {
			ID int    `path:"id"`
			X  string `json:"x"  validate:"max=3"`
		}, none](), []string{`.X: the tag validate:"max=3"`}},
		"deep": {registered[struct{ Body tagTree }, none](), []string{`.Body.Named.Text.Of: the tag MaxLength:"3"`}},
		"parameter in a body": {registered[struct {
			Body struct {
				ID int `path:"id"`
			}
		}, none](), []string{`.Body.ID: the tag path:"id" means nothing in a body`}},
		"form in a body": {registered[struct {
			Body struct {
				X string `form:"x"`
			}
		}, none](), []string{`.Body.X: the tag form:"x"`, `json:"x"`}},
		"answer": {registered[struct{}, struct {
			X string `JSON:"x"`
		}](), []string{`field X`, `write json:"x"`}},
		"answer's secret": {registered[struct{}, []struct {
			X string `json:"x,omitempty" writeonly:"true"`
		}](), []string{`field X`, `write writeOnly:"true"`}},

		"own Validate": {registered[struct{ Body checkedByOther }, none](), nil},
		"stores": {registered[struct {
			Body struct {
				X string `bson:"x" bun:"x,pk" db:"x" env:"X" gorm:"column:x" json:"x" mapstructure:"x" toml:"x" xml:"x" yaml:"x"`
			}
		}, checkedByOther](), nil},
		"said to be none": {registered[struct {
			Body struct {
				X string `binding:"-" form:"-" json:"x" query:"-"`
			}
		}, none](), nil},
		"a type for both": {registered[struct {
			Body struct {
				X string `form:"x" json:"x"`
			}
		}, none](), nil},
	} {
		if len(c.want) == 0 && c.got != "" {
			t.Errorf("%s: %s", name, c.got)
		}
		for _, want := range c.want {
			if !strings.Contains(c.got, want) {
				t.Errorf("%s: %q is without %q", name, c.got, want)
			}
		}
	}
}
