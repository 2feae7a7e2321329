package body_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/spoolhq/spool/rest/internal/body"
	"github.com/spoolhq/spool/rest/internal/schema"
)

type item struct {
	Name     string   `json:"name"              maxLength:"50"                minLength:"2"`
	SKU      string   `json:"sku"               pattern:"^[A-Z]{3}-[0-9]{4}$"`
	Price    float64  `exclusiveMinimum:"0"     json:"price"                  maximum:"100000"`
	Quantity int      `json:"quantity"          maximum:"1000"                minimum:"1"`
	Status   string   `enum:"draft,active,sold" json:"status"`
	Tags     []string `json:"tags"              maxItems:"8"                  maxLength:"20"   minItems:"1"`
	Note     string   `json:"note,omitempty"    maxLength:"200"`
}

const (
	goodItem = `{"name":"Steel hammer","sku":"HAM-0042","price":19.99,"quantity":42,"status":"active",` +
		`"tags":["tools","steel","new"],"note":"Handle with care, it is heavy."}`
	badItem = `{"name":"S","sku":"ham","price":0,"quantity":4200,"status":"gone","tags":[],"note":"x"}`
)

var skuPattern = regexp.MustCompile(`^[A-Z]{3}-[0-9]{4}$`)

var errInvalid = errors.New("invalid")

// byHand is what a program without the plan would write.
func byHand(data []byte, dst *item) error {
	if err := json.Unmarshal(data, dst); err != nil {
		return err
	}
	between := func(s string, least, most int) bool {
		n := utf8.RuneCountInString(s)
		return n >= least && n <= most
	}
	if !between(dst.Name, 2, 50) || !skuPattern.MatchString(dst.SKU) || dst.Price <= 0 || dst.Price > 100000 ||
		dst.Quantity < 1 || dst.Quantity > 1000 || !between(dst.Note, 0, 200) {
		return errInvalid
	}
	if dst.Status != "draft" && dst.Status != "active" && dst.Status != "sold" {
		return errInvalid
	}
	if len(dst.Tags) < 1 || len(dst.Tags) > 8 {
		return errInvalid
	}
	for _, tag := range dst.Tags {
		if !between(tag, 0, 20) {
			return errInvalid
		}
	}

	return nil
}

func planOf[T any](tb testing.TB) *body.Plan {
	tb.Helper()

	return planWith[T](tb, body.Options{})
}

func planWith[T any](tb testing.TB, opts body.Options) *body.Plan {
	tb.Helper()

	s, err := schema.New().Body(reflect.TypeFor[T](), "", false)
	if err != nil {
		tb.Fatal(err)
	}
	plan, err := body.Compile(reflect.TypeFor[T](), s, opts)
	if err != nil {
		tb.Fatal(err)
	}

	return plan
}

func BenchmarkDecode(b *testing.B) {
	plan := planOf[item](b)
	data := []byte(goodItem)

	b.Run("ByHand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var dst item
			if err := byHand(data, &dst); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var dst item
			if _, faults := plan.Decode(data, &dst); len(faults) > 0 {
				b.Fatal(faults)
			}
		}
	})
}

func BenchmarkDecodeInvalid(b *testing.B) {
	plan := planOf[item](b)
	data := []byte(badItem)

	b.Run("ByHand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var dst item
			if byHand(data, &dst) == nil {
				b.Fatal("good")
			}
		}
	})
	b.Run("Plan", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var dst item
			if _, faults := plan.Decode(data, &dst); len(faults) != 6 {
				b.Fatal(faults)
			}
		}
	})
}

// TestNoAllocation keeps the reading itself free of garbage: what is stored here needs no memory
// of its own.
func TestNoAllocation(t *testing.T) { //nolint:paralleltest // allocations are counted for the whole process
	type flat struct {
		Count int     `json:"count" maximum:"9"`
		Price float64 `json:"price"`
		Sold  bool    `json:"sold"`
		Inner struct {
			Level [2]uint8 `json:"level"`
		} `json:"inner"`
	}
	plan, dst := planOf[flat](t), new(flat)
	data := []byte(`{"count":7,"price":1.25,"sold":true,"inner":{"level":[1,2]}}`)

	if n := testing.AllocsPerRun(200, func() { plan.Decode(data, dst) }); n > 0 && !raced {
		t.Errorf("reading a good document allocated %v times", n)
	}
	if dst.Inner.Level[1] != 2 {
		t.Errorf("read %+v", dst)
	}
}
