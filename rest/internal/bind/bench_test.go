package bind_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"

	"github.com/spoolhq/spool/rest/internal/bind"
	"github.com/spoolhq/spool/rest/internal/opt"
)

type search struct {
	Shop   int64  `path:"shop"`
	Lang   string `maxLength:"5"  query:"lang"`
	Expand bool   `query:"expand"`
	Max    int    `default:"20"   maximum:"100" minimum:"1" query:"max"`
}

func searchRequest() *http.Request {
	r := httptest.NewRequestWithContext(
		context.Background(), http.MethodGet, "/shops/42/items?lang=en&expand=true&max=50", http.NoBody)
	r.SetPathValue("shop", "42")

	return r
}

func BenchmarkBind(b *testing.B) {
	plan, r := compile[search](b, bind.Options{}), searchRequest()
	in := new(bind.Input)

	b.ReportAllocs()
	for b.Loop() {
		in.Reset(r, r)
		dst := new(search)
		if faults := plan.Bind(in, dst); len(faults) > 0 || dst.Max != 50 {
			b.Fatal(faults)
		}
	}
}

// BenchmarkByHand is the same work as people write it.
func BenchmarkByHand(b *testing.B) {
	r := searchRequest()

	b.ReportAllocs()
	for b.Loop() {
		dst, err := byHand(r)
		if err != nil || dst.Max != 50 {
			b.Fatal(err)
		}
	}
}

func byHand(r *http.Request) (*search, error) {
	dst, query := &search{Max: 20}, r.URL.Query()

	var err error
	if dst.Shop, err = strconv.ParseInt(r.PathValue("shop"), 10, 64); err != nil {
		return nil, err
	}
	if dst.Lang = query.Get("lang"); len(dst.Lang) > 5 {
		return nil, strconv.ErrRange
	}
	if text := query.Get("expand"); text != "" {
		if dst.Expand, err = strconv.ParseBool(text); err != nil {
			return nil, err
		}
	}
	if text := query.Get("max"); text != "" {
		if dst.Max, err = strconv.Atoi(text); err != nil {
			return nil, err
		}
	}
	if dst.Max < 1 || dst.Max > 100 {
		return nil, strconv.ErrRange
	}

	return dst, nil
}

// Allocations are counted while nothing else runs, so this test has no parallel ones.
//
//nolint:paralleltest // AllocsPerRun counts what the whole process allocates
func TestAllocations(t *testing.T) {
	type absent struct {
		Shop int64           `path:"shop"`
		A    *int            `query:"a"`
		B    opt.Opt[string] `query:"b"`
		C    []string        `query:"c"`
	}
	type optional struct {
		Lang opt.Opt[string] `query:"lang"`
		Max  opt.Opt[int]    `query:"max"`
	}

	r, in := searchRequest(), new(bind.Input)

	for _, c := range []struct {
		name string
		plan *bind.Plan
		dst  func() any
		want float64
	}{
		{"Scalars", compile[search](t, bind.Options{}), func() any { return new(search) }, 1},
		{"Absent", compile[absent](t, bind.Options{}), func() any { return new(absent) }, 1},
		{"Opt", compile[optional](t, bind.Options{}), func() any { return new(optional) }, 1},
	} {
		got := testing.AllocsPerRun(100, func() {
			in.Reset(r, r)
			if faults := c.plan.Bind(in, c.dst()); len(faults) > 0 {
				t.Error(faults)
			}
		})
		if got > c.want {
			t.Errorf("%s: %v allocations, want %v", c.name, got, c.want)
		}
	}

	got := testing.AllocsPerRun(100, func() {
		in.Reset(r, r)
		for name := range in.QueryNames() {
			if name == "" {
				t.Error("no name")
			}
		}
	})
	if got > 0 {
		t.Errorf("QueryNames: %v allocations", got)
	}
}
