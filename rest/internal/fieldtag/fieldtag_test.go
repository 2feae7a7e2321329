package fieldtag_test

import (
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/fieldtag"
)

// Tags that reflection stops reading are refused: `json: "x"` is no tag at all.
func TestForm(t *testing.T) {
	t.Parallel()

	for tag, ok := range map[reflect.StructTag]bool{
		"": true, `json:"x"`: true, `json:"x"  bun:"a,\"b\""`: true, ` json:"x" `: true,
		`json: "x"`: false, `json:x`: false, `json:"x", format:"date"`: false, `json`: false, `json:"x`: false,
		"json:\"x\"\tdoc:\"y\"": false, `json:"\x"`: false,
	} {
		if err := fieldtag.Answer(reflect.StructField{Name: "X", Tag: tag}); (err == nil) != ok {
			t.Errorf("`%s`: %v", tag, err)
		}
		type anything struct{ X int }
		field := reflect.TypeFor[anything]().Field(0)
		field.Tag = tag
		if errs := fieldtag.Input(reflect.StructOf([]reflect.StructField{field})); (len(errs) == 0) != ok {
			t.Errorf("`%s`: %v", tag, errs)
		}
	}
}
