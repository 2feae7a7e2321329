package wire_test

import (
	"reflect"
	"testing"

	"github.com/spoolhq/spool/rest/internal/wire"
)

// BenchmarkPrepare looks at a page of fifty items in which nothing is nil.
func BenchmarkPrepare(b *testing.B) {
	type item struct {
		ID    int64    `json:"id"`
		Name  string   `json:"name"`
		Price float64  `json:"price"`
		Tags  []string `json:"tags"`
	}
	type page struct {
		Items any `json:"items"`
		Count int `json:"count"`
	}
	values, pointers := make([]item, 50), make([]*item, 50)
	for i := range values {
		values[i].Tags = []string{"a"}
		pointers[i] = &values[i]
	}
	for name, rows := range map[string]any{"Values": values, "Pointers": pointers} {
		b.Run(name, func(b *testing.B) {
			plan := wire.PlanOf(reflect.TypeOf(rows))
			p := page{Items: rows, Count: 50}
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := plan.Prepare(p, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
