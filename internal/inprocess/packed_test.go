package inprocess

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/spoolhq/spool/wire"
)

// TestPacked: items come back as they were, whatever they have in common.
func TestPacked(t *testing.T) {
	t.Parallel()

	random := rand.New(rand.NewPCG(1, 2))
	types := []wire.ItemType{wire.ItemTextContent, wire.ItemReasoningContent, "another", "own"}
	for range 300 {
		var items []wire.Item
		offset := wire.Offset{Fence: random.Int64N(5)}
		for range random.IntN(30) {
			offset.N += 1 + random.Int64N(3)
			if random.IntN(10) == 0 {
				offset = wire.Offset{Fence: offset.Fence + 1, N: random.Int64N(4)}
			}
			text := strings.Repeat("ab", random.IntN(4)) + strings.Repeat("c", random.IntN(3))
			item := wire.NewItem(types[random.IntN(len(types))], offset, random.Int64N(100), wire.Delta{Delta: text})
			switch random.IntN(8) {
			case 0: // data of another writer
				item.Data = json.RawMessage(text)
			case 1:
				item.Data = json.RawMessage(`{"offset":"` + offset.String() + `"}`)
			}
			items = append(items, item)
		}
		p := pack(items)
		got := p.unpack()
		if len(got) != len(items) || cap(p.buf) > 2*len(p.buf)+64 {
			t.Fatalf("%d items of %d, in %d bytes for %d", len(got), len(items), cap(p.buf), len(p.buf))
		}
		for i, item := range items {
			if string(got[i].Data) != string(item.Data) {
				t.Fatalf("item %d has the data %s, and had %s", i, got[i].Data, item.Data)
			}
			got[i].Data = item.Data
			if !reflect.DeepEqual(got[i], item) {
				t.Fatalf("item %d is %v, and was %v", i, got[i], item)
			}
		}
		if len(items) > 0 && p.last != items[len(items)-1].Offset {
			t.Fatalf("the last offset is %v", p.last)
		}
	}
}

// TestPackedSize: fifty short deltas take a tenth of what they took.
func TestPackedSize(t *testing.T) {
	t.Parallel()

	var items []wire.Item
	size := int64(0)
	for n := range int64(50) {
		item := wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 3, N: n + 1}, 7,
			wire.Delta{MessageID: "msg_0123456789abcdef", Delta: strings.Repeat("x", int(n%5)) + " word"})
		items = append(items, item)
		size += itemOverhead + int64(len(item.Data))
	}
	if got := pack(items).size(); got > size/8 {
		t.Errorf("%d bytes, and %d before", got, size)
	}
}

// TestPackedPages: pages of a packed stream are those that it had before, and a page of a long
// stream does not unpack all of it.
func TestPackedPages(t *testing.T) { //nolint:paralleltest // it looks at what is allocated
	st, n := &stream{}, int64(10*packItems+7)
	for i := range n {
		item := wire.NewItem(wire.ItemTextContent, wire.Offset{Fence: 1 + i/1000, N: 2 * (i + 1)}, 7,
			wire.Delta{MessageID: "m", Delta: strings.Repeat("x", int(i%9))})
		st.items = append(st.items, item)
	}
	st.closed = true
	plain := &stream{items: st.items, closed: true}
	st.pack()
	for _, limit := range []int{0, 1, packItems - 1, packItems, packItems + 1, 3 * packItems} {
		for i := int64(-1); i <= n; i += 61 {
			after := wire.Offset{Fence: 1 + i/1000, N: 2*(i+1) + i%2}
			if i == n {
				after = plain.last()
			}
			want, _ := plain.read(after, limit)
			got, err := st.read(after, limit)
			if err != nil || got.Ended != want.Ended || got.Last != want.Last || len(got.Items) != len(want.Items) {
				t.Fatalf("limit %d after %v: %d items of %d, ended %t, last %v (%v)", limit, after, len(got.Items), len(want.Items),
					got.Ended, got.Last, err)
			}
			for i := range got.Items {
				if !reflect.DeepEqual(got.Items[i], want.Items[i]) {
					t.Fatalf("limit %d after %v: item %d is %v, and was %v", limit, after, i, got.Items[i], want.Items[i])
				}
			}
		}
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, _ = st.read(wire.Offset{}, packItems)
	runtime.ReadMemStats(&after)
	if got, most := after.TotalAlloc-before.TotalAlloc, uint64(packItems*500); got > most {
		t.Errorf("a page of %d items of %d allocates %d bytes", packItems, n, got)
	}
}
