package wire_test

import (
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
		Items []item `json:"items"`
		Count int    `json:"count"`
	}
	p := page{Items: make([]item, 50)}
	for i := range p.Items {
		p.Items[i].Tags = []string{"a"}
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := wire.Prepare(p, nil); err != nil {
			b.Fatal(err)
		}
	}
}
